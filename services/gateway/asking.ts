import { uuidv7 } from 'uuidv7';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { SessionCommand } from '../../shared/session/commands.ts';
import type { CommandAnswer } from '../../shared/wire/envelope.ts';
import { type Asker, envelopeOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { Refusal } from './problem.ts';

/** How long a session may take to answer before the caller is told "accepted". */
const answerMs = 5_000;

/** What a session made of a command. Without `outcome` it has not said so yet: the command is stored and will take effect. */
export type Asked = { readonly runId: string } & (
  | { readonly status: 'accepted' }
  | ({ readonly status: 'ok' } & Pick<CommandAnswer, 'outcome' | 'seq' | 'rev'>)
);

/** Asks a session for something and waits for its own answer. The same `runId` again is the same command. Throws `Refusal` when it says no. */
export const ask = async (
  { ports, runs }: Pick<GatewayContext, 'ports' | 'runs'>,
  asker: Asker,
  key: SessionKey,
  data: SessionCommand,
  runId: string = uuidv7(),
): Promise<Asked> => {
  const answer = ports.answers.wait(runId, answerMs);
  const command = { id: runId, key, at: ports.clock.now(), data, answerTo: ports.answers.address };
  const { duplicate } = await ports.commands.publish(envelopeOf(asker, command));
  // A repeat within the broker's memory reaches no session, so nobody will answer it: what became of the first is looked up.
  if (duplicate) {
    const run = await runs.status(key, runId);
    if (run?.status === 'error') throw new Refusal(run.error.code, run.error.message);
    return run === null ? { runId, status: 'accepted' } : { runId, status: 'ok', outcome: 'duplicate' };
  }
  const told = await answer;
  if (told === null) return { runId, status: 'accepted' };
  const { outcome, seq, rev, code = 'refused', message = 'the session refuses this now' } = told;
  // The log knows what has changed; of what has not, only we do.
  if (outcome === 'refused') {
    runs.note(key, { runId, status: 'error', error: { code, message } });
    throw new Refusal(code, message);
  }
  if (outcome === 'nothing') runs.note(key, { runId, status: 'ok', reply: null });
  return { runId, status: 'ok', outcome, ...(seq !== undefined && { seq }), ...(rev !== undefined && { rev }) };
};
