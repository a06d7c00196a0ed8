import { messageOf } from '../../shared/kit/errors.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Clock, IndexView } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';

export interface RecoveryOptions {
  readonly clock: Clock;
  readonly view: IndexView;
  readonly log: Logger;
  readonly everyMs: number;
  owns(key: SessionKey): boolean;
  recover(key: SessionKey): Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Finds the sessions of our partitions that the index shows as running but nobody runs, and loads them: a turn survives its host even if
 * no further message comes (idea 3, I10). The index may lag: a row that is behind the log costs one needless load, a later sweep sees the rest.
 */
export const recoverLostTurns = async ({ clock, view, log, everyMs, owns, recover, signal }: RecoveryOptions): Promise<void> => {
  while (!signal.aborted) {
    for (const row of view.rows()) {
      if (signal.aborted) return;
      if (row.status !== 'running' || !owns(row.key)) continue;
      await recover(row.key).catch((error) =>
        log.warn({ key: row.key, reason: messageOf(error) }, 'lost turn not recovered yet'),
      );
    }
    await clock.sleep(everyMs, signal);
  }
};
