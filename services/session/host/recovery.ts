import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type IndexRow, pendingIn } from '../../../shared/domain/projections/index-row.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';

export interface RecoveryOptions {
  readonly clock: Clock;
  readonly view: IndexView;
  readonly log: Logger;
  readonly everyMs: number;
  owns(key: SessionKey): boolean;
  recover(key: SessionKey): Promise<void>;
  expire(key: SessionKey, approvalId: string): Promise<void>;
  expireResults(key: SessionKey, turnId: string): Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Sweeps the index for sessions of our partitions that no message will wake. A session that is shown as running but is in no memory is loaded:
 * a turn survives its host even if no further message comes (B16, I10). An approval past its deadline expires: approvals have no timer in
 * memory (ADR 11), and neither has the wait for the results of a program's tools. The index may lag: a row behind the log costs one needless load or a command that changes nothing, and a later sweep sees
 * the rest.
 */
export const recoverLostTurns = async (options: RecoveryOptions): Promise<void> => {
  const { clock, view, log, everyMs, owns, signal } = options;
  while (!signal.aborted) {
    for (const row of view.rows()) {
      if (signal.aborted) return;
      const repair = repairOf(row, options);
      if (repair === null || !owns(row.key)) continue;
      await repair().catch((error: unknown) =>
        log.warn({ key: row.key, reason: errorMessage(error) }, 'session not recovered yet'),
      );
    }
    await clock.sleep(everyMs, signal);
  }
};

const repairOf = (row: IndexRow, { clock, recover, expire, expireResults }: RecoveryOptions): (() => Promise<void>) | null => {
  const { key, status, activeTurnId, resultsUntil = 0 } = row;
  const over = pendingIn(row).find(({ expiresAt }) => clock.now() > expiresAt);
  if (over !== undefined) return () => expire(key, over.approvalId);
  const isLate = status === 'awaiting_results' && clock.now() > resultsUntil;
  if (isLate && activeTurnId !== null) return () => expireResults(key, activeTurnId);
  return status === 'running' ? () => recover(key) : null;
};
