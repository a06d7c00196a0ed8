import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { checkpointsDisabled } from '../../shared/domain/routing/chat-answer.ts';
import { type Asked, ask } from './asking.ts';
import type { Asker } from './commands.ts';
import type { GatewayContext } from './context.ts';
import type { Condition } from './etag.ts';
import { Refusal } from './problem.ts';

/** What became of a wish for a look back. `requested`: whether anything was said since the last one; absent: nobody knows yet, or any more. */
export type CheckpointAnswer = Asked & { readonly requested?: boolean };

/**
 * Has a session that the caller may see looked back on, if anything was said since the last time (A7/80–81), unless nobody
 * would do it. Throws `Refusal`.
 */
export const checkpoint = async (
  context: GatewayContext,
  asker: Asker,
  { key, runId, condition }: { key: SessionKey; runId?: string; condition?: Condition },
): Promise<CheckpointAnswer> => {
  await context.access.read(asker.principal, key);
  if (!context.config.introspection.enabled) throw new Refusal('introspection_disabled', checkpointsDisabled);
  const wish = { type: 'request_checkpoint', why: { reason: 'manual' } } as const;
  const asked = await ask(context, asker, key, wish, { runId, ...(await condition?.()) });
  const outcome = asked.status === 'ok' ? asked.outcome : undefined;
  const isKnown = outcome === 'accepted' || outcome === 'nothing';
  return { ...asked, ...(isKnown && { requested: outcome === 'accepted' }) };
};
