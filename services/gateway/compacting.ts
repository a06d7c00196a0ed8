import { z } from 'zod';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { turnTask } from '../../shared/domain/values/types.ts';
import { type Asker, envelopeOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import type { Condition } from './etag.ts';
import { type Accepted, accept } from './posting.ts';

/** What a caller may say to it: the model follows it when it summarises. */
export const instructions = turnTask.shape.instructions.unwrap().min(1).optional();
export const compactBody = z.strictObject({ instructions });

/** A wish for a compaction, under the id of its run. `waitMs` 0: the caller does not wait. */
export interface Compaction {
  readonly key: SessionKey;
  readonly runId: string;
  readonly instructions?: string | undefined;
  readonly condition?: Condition;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Has a session that the caller may see summarise what was said so far (A11/126). What became of it is the run's reply. */
export const compact = async (context: GatewayContext, asker: Asker, compaction: Compaction): Promise<Accepted> => {
  const { key, runId, instructions: given, condition, waitMs, signal } = compaction;
  const { after: seen } = await context.access.read(asker.principal, key);
  const data = { type: 'compact', ...(given !== undefined && { instructions: given }), notice: { code: 'compacted' } } as const;
  const envelope = envelopeOf(asker, { id: runId, key, at: context.ports.clock.now(), data, ...(await condition?.()) });
  return accept(context, envelope, { waitMs, signal, seen });
};
