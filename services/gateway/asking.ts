import { uuidv7 } from 'uuidv7';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import type { CommandAnswer, CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import { NatterError } from '../../shared/kit/errors.ts';
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

type AskingContext = Pick<GatewayContext, 'ports' | 'runs' | 'audit'>;

/** Asks a session for something and waits for its own answer. The same `runId` again is the same command. Throws `Refusal` when it says no. */
export const ask = async (
  context: AskingContext,
  asker: Asker,
  key: SessionKey,
  data: SessionCommand,
  { runId = uuidv7(), ...when }: { runId?: string | undefined; ifSeq?: number } = {},
): Promise<Asked> => {
  const command = { id: runId, key, at: context.ports.clock.now(), data, ...when };
  return asked(context, envelopeOf(asker, command), asker.ip);
};

/** The same of a command that is made. Without an answer to one with a condition it throws `unavailable`: nobody knows whether it holds. */
export const asked = async (
  { ports, runs, audit }: AskingContext,
  envelope: CommandEnvelope,
  address?: string,
): Promise<Asked> => {
  const { id: runId, key, ifSeq } = envelope;
  const answer = ports.answers.wait(runId, answerMs);
  const { duplicate } = await ports.commands.publish({ ...envelope, answerTo: ports.answers.address });
  // A repeat within the broker's memory reaches no session, so nobody will answer it: what became of the first is looked up.
  if (duplicate) {
    const noted = runs.noted(key, runId);
    if (noted?.status === 'error') throw new Refusal(noted.error.code, noted.error.message);
    // That the turn of a message has failed does not mean that the message was refused.
    const run = await runs.status(key, runId);
    if (run === null && ifSeq !== undefined) throw undecided();
    return run === null ? { runId, status: 'accepted' } : { runId, status: 'ok', outcome: 'duplicate' };
  }
  const told = await answer;
  if (told === null && ifSeq !== undefined) throw undecided();
  if (told === null || told.outcome === 'accepted') audit.command(envelope, address);
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

const undecided = (): NatterError =>
  new NatterError('unavailable', 'the session has not said whether it is where the call means it to be; send it again as it is');
