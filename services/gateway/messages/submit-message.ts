import { uuidv7 } from 'uuidv7';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { type Run, waitedFor } from '../../../shared/domain/projections/run.ts';
import type { CommandOf, SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { CallAttempt } from '../../../shared/domain/session/repeats/asked-calls.ts';
import type { QueueRule } from '../../../shared/domain/values/queue-rule.ts';
import { isStranger } from '../../../shared/domain/values/queue-share.ts';
import type { Message } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { refuseWhenDenied } from '../../../shared/runtime/session-tools/sending.ts';
import { speakerOf } from '../access/speaker.ts';
import type { IncomingFile } from '../attachments/incoming-file.ts';
import { checkFiles, withKeptFiles } from '../attachments/keep-files.ts';
import { type Caller, envelopeOf, idempotentIdOf } from '../commands/envelope.ts';
import { publishCommand } from '../commands/publish.ts';
import { sendEnvelope } from '../commands/send-command.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Wait } from '../context/runs.ts';
import { pairByText } from '../pairing/pairing.ts';
import { commandFromText } from './command-from-text.ts';

/** A message for a session. The same `idempotencyKey` again is the same run. */
export interface MessageSubmission {
  readonly key: SessionKey;
  readonly text: string;
  readonly idempotencyKey?: string | undefined;
  /** Which attempt of its client this is, if that counts them. */
  readonly call?: CallAttempt | undefined;
  /** The text is never a chat command: programs and agents send texts to the model only (A11). */
  readonly literal: boolean;
  /** What its program asks of the model besides, and where it stands in that program's conversation. */
  readonly client?: Message['client'];
  readonly thread?: string | undefined;
  readonly clientId?: string | undefined;
  /** Files that came with it; `field` is where. */
  readonly files?: readonly IncomingFile[] | undefined;
  readonly field?: string | undefined;
  /** How long to wait for the answer, ms; 0: not at all. */
  readonly waitMs: number;
  /** Ends the wait, never the run. */
  readonly signal: AbortSignal;
  /** What is waited for. Default: that the run is over. */
  readonly isEnough?: Wait['isEnough'];
}

/** Submits a message for a caller, if access and queue allow it, and waits for its run as long as they want (A10/117–121). */
export const submitMessage = async (
  context: GatewayContext,
  caller: Caller,
  submission: MessageSubmission,
): Promise<Submission & { seen: number }> => {
  const { waitMs, signal, isEnough } = submission;
  const { envelope, seen } = await admitted(context, caller, submission);
  return { ...(await submitCommand(context, envelope, { waitMs, signal, isEnough, seen, address: caller.ip })), seen };
};

/** Submits a client's retry, and resolves with the run of the attempt that took effect: the first one's, or its own. */
export const submitRetry = async (
  context: GatewayContext,
  caller: Caller,
  submission: MessageSubmission,
): Promise<{ runId: string; seen: number }> => {
  const { envelope, seen } = await admitted(context, caller, submission);
  const { runId } = await sendEnvelope(context, envelope, caller.ip);
  return { runId, seen };
};

/** The command of a message, if access and queue allow it. */
const admitted = async (
  context: GatewayContext,
  caller: Caller,
  submission: MessageSubmission,
): Promise<{ envelope: CommandEnvelope; seen: number }> => {
  const { access } = context;
  const { key, files = [], field = 'attachments' } = submission;
  const seen = await access.enter(caller.principal, key);
  context.newSessions.enter(caller, key);
  checkFiles(context.config, files, field);
  const envelope = await envelopeFor(context, caller, submission);
  const row = await context.sessions.get(key);
  // A chat command such as `/new hello` carries a message too.
  if ('message' in envelope.data) refuseWhenDenied(context.config, key, row);
  if (envelope.data.type === 'post_message') refuseFull(row, envelope.data);
  return { envelope: await withKeptFiles(context, envelope, files), seen };
};

/** `duplicate`: the broker already had the command. */
export interface Submission {
  readonly run: Run;
  readonly duplicate: boolean;
}

/**
 * Publishes a command that starts a run. From then on the run continues without the caller; `signal` ends only the wait. A duplicate gets what
 * is recorded after the sequence `seen`. Throws `Refusal` if the condition of the command does not hold.
 */
export const submitCommand = async (
  context: GatewayContext,
  envelope: CommandEnvelope,
  { waitMs, signal, isEnough, seen, address }: Wait & { seen: number; address?: string | undefined },
): Promise<Submission> => {
  const { ports, runs } = context;
  const { id: runId, key } = envelope;
  if (envelope.ifSeq !== undefined) return submitConditionally(context, envelope, { waitMs, signal, seen, address });
  if (waitMs === 0) {
    const { duplicate } = await publishCommand(ports, envelope);
    if (!duplicate) auditReset(context, envelope, address);
    const run = { runId, status: 'accepted' } as const;
    runs.note(key, run);
    return { run, duplicate };
  }
  const expected = runs.expect(key, runId, { seen, waitMs, signal, isEnough });
  try {
    const answered = { answerTo: ports.answers.address, answers: 'unrecorded' } as const;
    const { duplicate } = await publishCommand(ports, { ...envelope, ...answered });
    if (!duplicate) auditReset(context, envelope, address);
    return { run: await expected.after(duplicate), duplicate };
  } finally {
    expected.end();
  }
};

/** One that is typed, such as `/new`. Of other commands nobody knows here whether the session accepts them; a reset it does not refuse. */
const auditReset = ({ audit, sessions }: GatewayContext, envelope: CommandEnvelope, address: string | undefined): void => {
  if (envelope.data.type === 'reset' && sessions.peek(envelope.key) !== undefined) audit.command(envelope, address);
};

/** The same for a command with a condition, which the session itself checks. Throws `Refusal('precondition_failed')`. */
const submitConditionally = async (
  context: GatewayContext,
  envelope: CommandEnvelope,
  { waitMs, signal, seen, address }: Omit<Wait, 'isEnough'> & { seen: number; address: string | undefined },
): Promise<Submission> => {
  const { id: runId, key } = envelope;
  const answer = await sendEnvelope(context, envelope, address);
  const duplicate = answer.status === 'ok' && answer.outcome === 'duplicate';
  const accepted = { runId, status: 'accepted' } as const;
  if (waitMs === 0) return { run: accepted, duplicate };
  const run = await context.runs.await(key, runId, { after: seen, waitMs, signal });
  return { run: waitedFor(run ?? accepted), duplicate };
};

/**
 * Refuses at once what the session would refuse later; the session decides, this only saves the way. The index may lag, so a queue that seems
 * full is checked again: a message sent after `/stop` runs (A11/125).
 */
export const refuseWhenFull = async ({ sessions }: GatewayContext, key: SessionKey, posted: PostedMessage): Promise<void> => {
  if (isFull(sessions.peek(key), posted)) refuseFull(await sessions.get(key), posted);
};

type PostedMessage = Pick<CommandOf<'post_message'>, 'message' | 'queue'>;

const roomIn = (queue: QueueRule | undefined): number => queue?.limit ?? limits.queuedTurns;

/**
 * Only a message that has to wait needs room in the queue: others join the running turn, or end it (B6). What strangers have waiting leaves the
 * owner's room as it is (D7).
 */
const isFull = (row: IndexRow | null | undefined, { queue, message }: PostedMessage): boolean => {
  const { mode = 'followup', debounceMs } = queue ?? {};
  const waits = (mode === 'followup' || mode === 'collect') && !debounceMs;
  const isBusy = row ? row.activeTurnId !== null : false;
  const waiting = (row?.queuedTurns ?? 0) - (isStranger(message.sender) ? 0 : (row?.strangersQueued?.length ?? 0));
  return waits && isBusy && waiting >= roomIn(queue);
};

const refuseFull = (row: IndexRow | null, posted: PostedMessage): void => {
  if (!isFull(row, posted)) return;
  throw new NatterError('overloaded', `a turn runs, and ${roomIn(posted.queue)} messages may wait behind it; try again later`);
};

/** The command for a caller's text: a message, or the chat command in it. */
export const commandFor = async (context: GatewayContext, caller: Caller, said: SubmittedText): Promise<SessionCommand> =>
  (await envelopeFor(context, caller, said)).data;

type SubmittedText = Pick<
  MessageSubmission,
  'key' | 'text' | 'idempotencyKey' | 'call' | 'literal' | 'client' | 'thread' | 'clientId'
>;

const envelopeFor = async (
  context: GatewayContext,
  caller: Caller,
  { key, text, idempotencyKey, call, literal, client, thread, clientId }: SubmittedText,
): Promise<CommandEnvelope> => {
  const { access, config, ports } = context;
  const at = ports.clock.now();
  const id = runIdOf(key, idempotencyKey === undefined ? uuidv7() : idempotentIdOf(caller, key, 'post_message', idempotencyKey));
  const { principal } = caller;
  const message = {
    ...{ messageId: id, text, sender: speakerOf(principal, undefined, access.identities) },
    ...(client && { client }),
    ...(thread !== undefined && { thread }),
    ...(clientId !== undefined && { clientId }),
  };
  const pair = (code: string) => pairByText(context, caller, { code });
  const mayChange = () => access.mayControl(principal, key, message.sender);
  const data = await commandFromText(config, {
    ...{ key, at, message, principal, literal, mayChange, pair },
    isShared: access.isShared(context.sessions.peek(key), key),
  });
  return envelopeOf(caller, { id, key, at, call, data });
};
