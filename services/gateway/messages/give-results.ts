import { createHash } from 'node:crypto';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import type { ClientRequest } from '../../../shared/domain/values/client-request.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { speakerOf } from '../access/speaker.ts';
import { type Caller, envelopeOf, idempotentIdOf } from '../commands/envelope.ts';
import { sendEnvelope } from '../commands/send-command.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';

/** Results of a program's own tools (ADR 26). */
export interface GivenResults {
  readonly key: SessionKey;
  readonly results: CommandOf<'give_results'>['results'];
  /** What the program says besides; empty: nothing. */
  readonly text?: string;
  readonly client?: ClientRequest | undefined;
  readonly thread?: string | undefined;
}

/**
 * Gives them to the turn that waits for them, and resolves with the run that they begin: it is the same for the same results, and they count
 * once. `after`: nothing of the run was recorded up to there. Throws `Refusal` with one of the codes `results_…`, and as `access.enter`.
 */
export const giveResults = async (
  context: GatewayContext,
  caller: Caller,
  { key, results, text = '', client, thread }: GivenResults,
): Promise<{ readonly runId: string; readonly seen: number; readonly after: number }> => {
  const { access, feed, ports } = context;
  const seen = await access.enter(caller.principal, key);
  if (!mayBeOfOneStep(results))
    throw new Refusal(
      'results_unexpected',
      'no step makes so many calls, or one with such an id: the program got these results elsewhere',
    );
  const digest = createHash('sha256')
    .update(JSON.stringify([results, text]))
    .digest('base64url');
  const id = runIdOf(key, idempotentIdOf(caller, key, 'give_results', digest));
  const by = speakerOf(caller.principal, undefined, access.identities);
  const said = { messageId: id, text, sender: by, ...(thread !== undefined && { thread }) };
  const data = { type: 'give_results', results, by, ...(text !== '' && { said }), ...(client && { client }) } as const;
  const after = feed.position;
  await sendEnvelope(context, envelopeOf(caller, { id, key, at: ports.clock.now(), data }), caller.ip);
  return { runId: id, seen, after };
};

/** A session could not read a command with others, and would never answer. */
const mayBeOfOneStep = (results: GivenResults['results']): boolean =>
  results.length <= limits.stepCalls && results.every(({ callId }) => callId !== '' && callId.length <= limits.callIdCharacters);
