import { uuidv7 } from 'uuidv7';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandAnswer, CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';
import { type Caller, envelopeOf } from './envelope.ts';
import { publishCommand } from './publish.ts';

/** How long a session may take to answer before the caller is told "accepted". */
const answerMs = 5_000;

/** The result of a command. Without `outcome` the session has not answered yet: the command is stored and will take effect. */
export type CommandResult = { readonly runId: string } & (
  | { readonly status: 'accepted' }
  | ({ readonly status: 'ok' } & Pick<CommandAnswer, 'outcome' | 'seq' | 'rev'>)
);

type SendContext = Pick<GatewayContext, 'ports' | 'runs' | 'audit'>;

/** Sends a command to a session and waits for its answer. The same `runId` again is the same command. Throws `Refusal` when the session refuses. */
export const sendCommand = async (
  context: SendContext,
  caller: Caller,
  key: SessionKey,
  data: SessionCommand,
  { runId = uuidv7(), ...when }: { runId?: string | undefined; ifSeq?: number } = {},
): Promise<CommandResult> => {
  const command = { id: runId, key, at: context.ports.clock.now(), data, ...when };
  return sendEnvelope(context, envelopeOf(caller, command), caller.ip);
};

/** The same for a complete envelope. Throws `unavailable` if a command with a condition gets no answer: whether the condition held is unknown. */
export const sendEnvelope = async (
  { ports, runs, audit }: SendContext,
  envelope: CommandEnvelope,
  address?: string,
): Promise<CommandResult> => {
  const { id: runId, key, ifSeq } = envelope;
  const answer = ports.answers.wait(runId, answerMs);
  const { duplicate } = await publishCommand(ports, { ...envelope, answerTo: ports.answers.address });
  // A duplicate within the broker's window reaches no session, so no answer will come: look up the result of the first one.
  if (duplicate) {
    const noted = runs.noted(key, runId);
    if (noted?.status === 'error') throw new Refusal(noted.error.code, noted.error.message);
    // A failed turn does not mean that its message was refused.
    const run = await runs.status(key, runId);
    if (run === null && ifSeq !== undefined) throw undecided();
    return run === null ? { runId, status: 'accepted' } : { runId, status: 'ok', outcome: 'duplicate' };
  }
  const told = await answer;
  if (told === null && ifSeq !== undefined) throw undecided();
  if (told === null || told.outcome === 'accepted') audit.command(envelope, address, told?.seq);
  if (told === null) return { runId, status: 'accepted' };
  const { outcome, seq, rev, code = 'refused', message = 'the session refuses this now', firstId } = told;
  // Only changes are in the log; results without a change are remembered here.
  if (outcome === 'refused') {
    runs.note(key, { runId, status: 'error', error: { code, message } });
    throw new Refusal(code, message);
  }
  if (outcome === 'nothing') runs.note(key, { runId, status: 'ok', reply: null });
  return { runId: firstId ?? runId, status: 'ok', outcome, ...(seq !== undefined && { seq }), ...(rev !== undefined && { rev }) };
};

const undecided = (): NatterError =>
  new NatterError('unavailable', 'the session has not said whether it is where the call means it to be; send it again as it is');
