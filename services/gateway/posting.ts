import { uuidv7 } from 'uuidv7';
import { runIdOf } from '../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { type Run, waitedFor } from '../../shared/domain/projections/run.ts';
import type { IndexRow } from '../../shared/domain/projections/summary.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import type { QueueRule } from '../../shared/domain/values/types.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import { refuseWhenDenied } from '../../shared/runtime/session-tools/sending.ts';
import { asked } from './asking.ts';
import { type Asker, envelopeOf, onceIdOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { commandSaid } from './said.ts';
import { speakerOf } from './speaker.ts';

/** A message that a caller has for a session. The same `idempotencyKey` again is the same run. */
export interface Posting {
  readonly key: SessionKey;
  readonly text: string;
  readonly idempotencyKey?: string | undefined;
  /** The text is for the model, whatever it looks like: programs and agents command nothing by text (A11). */
  readonly literal: boolean;
  /** How long to wait for the answer, ms; 0: not at all. */
  readonly waitMs: number;
  /** Ends the wait, never the run. */
  readonly signal: AbortSignal;
}

/** Posts a message for a caller, if they may and the session can take it, and waits for its run as long as they want (A10/117–121). */
export const post = async (context: GatewayContext, asker: Asker, posting: Posting): Promise<Accepted & { seen: number }> => {
  const { access } = context;
  const { key, waitMs, signal } = posting;
  const seen = await access.enter(asker.principal, key);
  const envelope = envelopeFor(context, asker, posting);
  const row = await context.sessions.get(key);
  // A command such as `/new hello` brings a message too.
  if ('message' in envelope.data) refuseWhenDenied(context.config, key, row);
  if (envelope.data.type === 'post_message') refuseFull(row, envelope.data.queue);
  return { ...(await accept(context, envelope, { waitMs, signal, seen })), seen };
};

/** `duplicate`: the broker had the command already. */
export interface Accepted {
  readonly run: Run;
  readonly duplicate: boolean;
}

/**
 * Stores a message's command. From then on its turn goes on, whatever becomes of the caller; `signal` ends the wait alone. Of a repeat the
 * caller is told what is recorded after the sequence `seen`. Throws `Refusal` where the session is not where the command means it to be.
 */
export const accept = async (
  context: GatewayContext,
  envelope: CommandEnvelope,
  { waitMs, signal, seen }: { waitMs: number; signal: AbortSignal; seen: number },
): Promise<Accepted> => {
  const { ports, runs, feed } = context;
  const { id: runId, key } = envelope;
  if (envelope.ifSeq !== undefined) return acceptIf(context, envelope, { waitMs, signal, seen });
  if (waitMs === 0) {
    const { duplicate } = await ports.commands.publish(envelope);
    const run = { runId, status: 'accepted' } as const;
    runs.note(key, run);
    return { run, duplicate };
  }
  const after = feed.position;
  const answer = ports.answers.wait(runId, waitMs);
  const { duplicate } = await ports.commands.publish({ ...envelope, answerTo: ports.answers.address });
  return { run: await runs.outcome(key, runId, { after, seen, waitMs, signal, answer, duplicate }), duplicate };
};

/** The same of a message with a condition: the session itself has said that it holds. Throws `Refusal('precondition_failed')`. */
const acceptIf = async (
  context: GatewayContext,
  envelope: CommandEnvelope,
  { waitMs, signal, seen }: { waitMs: number; signal: AbortSignal; seen: number },
): Promise<Accepted> => {
  const { id: runId, key } = envelope;
  const answer = await asked(context, envelope);
  const duplicate = answer.status === 'ok' && answer.outcome === 'duplicate';
  const accepted = { runId, status: 'accepted' } as const;
  if (waitMs === 0) return { run: accepted, duplicate };
  const run = await context.runs.await(key, runId, { after: seen, waitMs, signal });
  return { run: waitedFor(run ?? accepted), duplicate };
};

/**
 * Says no at once where the session would say no later; the session's own refusal is what counts, this saves the way. The index may be
 * late, so a queue that seems full is looked at again: a message sent after `/stop` runs (A11/125).
 */
export const refuseWhenFull = async (
  { sessions }: GatewayContext,
  key: SessionKey,
  queue: QueueRule | undefined,
): Promise<void> => {
  if (isFull(sessions.peek(key), queue)) refuseFull(await sessions.get(key), queue);
};

const roomIn = (queue: QueueRule | undefined): number => queue?.limit ?? limits.queuedTurns;

/** Only a message that has to wait needs room: others join the turn that runs, or end it (B6). */
const isFull = (row: IndexRow | null | undefined, queue: QueueRule | undefined): boolean => {
  const { mode = 'followup', debounceMs } = queue ?? {};
  const waits = (mode === 'followup' || mode === 'collect') && !debounceMs;
  const isBusy = row ? row.activeTurnId !== null : false;
  return waits && isBusy && (row?.queuedTurns ?? 0) >= roomIn(queue);
};

const refuseFull = (row: IndexRow | null, queue: QueueRule | undefined): void => {
  if (!isFull(row, queue)) return;
  throw new NatterError('overloaded', `a turn runs, and ${roomIn(queue)} messages may wait behind it; try again later`);
};

/** What a session is told when a caller says this: a message, or what its text commands. */
export const toldBy = (context: GatewayContext, asker: Asker, said: SaidToKey): SessionCommand =>
  envelopeFor(context, asker, said).data;

type SaidToKey = Pick<Posting, 'key' | 'text' | 'idempotencyKey' | 'literal'>;

const envelopeFor = (
  { access, config, ports }: GatewayContext,
  asker: Asker,
  { key, text, idempotencyKey, literal }: SaidToKey,
): CommandEnvelope => {
  const at = ports.clock.now();
  const id = runIdOf(key, idempotencyKey === undefined ? uuidv7() : onceIdOf(asker, key, 'post_message', idempotencyKey));
  const { principal } = asker;
  const message = { messageId: id, text, sender: speakerOf(principal, undefined, access.identities) };
  return envelopeOf(asker, { id, key, at, data: commandSaid(config, { key, at, message, principal, literal }) });
};
