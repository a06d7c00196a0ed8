import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { checkpointsDisabled } from '../../../shared/domain/routing/chat-answer.ts';
import { commandIdOf } from '../commands/envelope.ts';
import { type CommandResult, sendCommand } from '../commands/send-command.ts';
import { Refusal } from '../http/problem.ts';
import type { Condition } from '../operation/etag.ts';
import type { Call } from '../operation/operation.ts';

/** The result of a checkpoint request. `requested`: whether anything was said since the last checkpoint; absent if that is unknown. */
export type CheckpointResult = CommandResult & { readonly requested?: boolean };

export interface CheckpointRequest {
  readonly key: SessionKey;
  readonly idempotencyKey?: string | undefined;
  readonly condition?: Condition | undefined;
}

/**
 * Requests a checkpoint of a session that the caller may see (A7/80–81). Throws `Refusal('introspection_disabled')` if introspection
 * is off.
 */
export const checkpoint = async (
  { context, caller }: Call,
  { key, idempotencyKey, condition }: CheckpointRequest,
): Promise<CheckpointResult> => {
  await context.access.read(caller.principal, key);
  if (!context.config.introspection.enabled) throw new Refusal('introspection_disabled', checkpointsDisabled);
  const data = { type: 'request_checkpoint', why: { reason: 'manual' } } as const;
  const runId = commandIdOf(caller, key, data.type, idempotencyKey);
  const result = await sendCommand(context, caller, key, data, { runId, ...(await condition?.()) });
  const outcome = result.status === 'ok' ? result.outcome : undefined;
  const isKnown = outcome === 'accepted' || outcome === 'nothing';
  return { ...result, ...(isKnown && { requested: outcome === 'accepted' }) };
};
