import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { turnTask } from '../../../shared/domain/values/types.ts';
import { commandIdOf, envelopeOf } from '../commands/envelope.ts';
import { type Submission, submitCommand } from '../messages/submit-message.ts';
import type { Condition } from '../operation/etag.ts';
import type { Call } from '../operation/operation.ts';

/** Instructions that the model follows when it summarises. */
export const instructions = turnTask.shape.instructions.unwrap().min(1).optional();

/** A compaction, under the id of its run. `waitMs` 0: the caller does not wait. */
export interface Compaction {
  readonly key: SessionKey;
  /** Default: made of the idempotency key. */
  readonly runId?: string;
  readonly idempotencyKey?: string | undefined;
  readonly instructions?: string | undefined;
  readonly condition?: Condition | undefined;
  readonly waitMs: number;
}

/** Compacts a session that the caller may see: a summary replaces what was said so far (A11/126). The run's reply says how it went. */
export const compact = async ({ context, caller, signal }: Call, compaction: Compaction): Promise<Submission> => {
  const { key, idempotencyKey, instructions: given, condition, waitMs } = compaction;
  const { runId: id = commandIdOf(caller, key, 'compact', idempotencyKey) } = compaction;
  const { after: seen } = await context.access.read(caller.principal, key);
  await context.access.permitControl(caller.principal, key, 'compacting');
  const data = { type: 'compact', ...(given !== undefined && { instructions: given }), notice: { code: 'compacted' } } as const;
  const envelope = envelopeOf(caller, { id, key, at: context.ports.clock.now(), data, ...(await condition?.()) });
  return submitCommand(context, envelope, { waitMs, signal, seen });
};
