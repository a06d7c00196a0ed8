import { seesAll } from '../../../shared/domain/access/access.ts';
import { failedRun } from '../../../shared/domain/projections/run.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Call } from '../operation/operation.ts';

/**
 * Scheduled messages (`sendAt`). Each waits in the queue of commands under its own id. Those who see everything see all of them,
 * others what they have scheduled themselves.
 */

/** What one list reads at most: what sessions have scheduled for themselves, such as checkpoints, is among it. */
const readAtMost = 10_000;
/** What is due so soon may be on its way already. */
const tooLateMs = 1_000;

type Of = Parameters<Call['context']['ports']['commands']['scheduled']>[0];

const scheduledOf = async ({ context, caller }: Call, of: Of) => {
  const { clock, commands } = context.ports;
  const found = await commands.scheduled(of, readAtMost);
  const isListed = ({ key, at, actor, ifGeneration = 0 }: CommandEnvelope): boolean => {
    const row = context.sessions.peek(key);
    const isDeleted = row?.deleted === true && ifGeneration <= row.generation;
    return at > clock.now() && !isDeleted && (seesAll(caller.principal) || actor === caller.actor);
  };
  const ours = found.filter(({ name, message }) => name === message.id && isListed(message));
  return { messages: ours.map(({ message }) => message), complete: found.length < readAtMost };
};

const listed = ({ id, key, at, actor, data }: CommandEnvelope) => {
  // A reset has the text that greets the new session.
  const isMessage = data.type === 'post_message' || data.type === 'append_message';
  return { runId: id, sessionKey: key, sendAt: at, actor, command: data.type, text: isMessage ? data.message.text : null };
};

/** The next ones first. */
export const listScheduledMessages = async (call: Call, { key, limit }: { key?: string; limit: number }) => {
  const { messages, complete } = await scheduledOf(call, key === undefined ? {} : { key });
  const next = messages.toSorted((left, right) => left.at - right.at).slice(0, limit);
  return { messages: next.map(listed), complete: complete && messages.length <= limit };
};

/** Throws `NatterError('not_found')` for one that is not there, not the caller's to see, or due in a moment. */
export const cancelScheduledMessage = async (call: Call, runId: string) => {
  const { context, caller } = call;
  const { ports, audit, runs } = context;
  const command = (await scheduledOf(call, { name: runId })).messages[0];
  if (command === undefined || command.at <= ports.clock.now() + tooLateMs)
    throw new NatterError('not_found', 'runId: no such message is scheduled; it was sent or cancelled, or is due now', {
      field: 'runId',
    });
  const { key } = command;
  await audit.before('message_cancelled', caller, { target: key, detail: { runId } }, () => ports.commands.cancel(key, runId));
  runs.note(key, failedRun(runId, 'cancelled', 'it was cancelled before its time came'));
  return listed(command);
};
