import { uuidv7 } from 'uuidv7';
import { NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import { sendDecision } from '../../shared/policy/send-policy.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { IndexRow } from '../../shared/session/summary.ts';
import { listFactsOf } from '../../shared/session-tools/row.ts';
import type { CommandEnvelope } from '../../shared/wire/envelope.ts';
import { type Asker, envelopeOf, onceIdOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { runIdOf } from './run-id.ts';
import type { Run } from './runs.ts';
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
  if ('message' in envelope.data) refuseWhenDenied(context, key, row);
  if (envelope.data.type === 'post_message') refuseFull(row);
  return { ...(await accept(context, envelope, { waitMs, signal, seen })), seen };
};

/** `duplicate`: the broker had the command already. */
export interface Accepted {
  readonly run: Run;
  readonly duplicate: boolean;
}

/**
 * Stores a message's command. From then on its turn goes on, whatever becomes of the caller; `signal` ends the wait alone. Of a repeat the
 * caller is told what is recorded after the sequence `seen`.
 */
export const accept = async (
  { ports, runs, feed }: GatewayContext,
  envelope: CommandEnvelope,
  { waitMs, signal, seen }: { waitMs: number; signal: AbortSignal; seen: number },
): Promise<Accepted> => {
  const { id: runId, key } = envelope;
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

/** Throws `NatterError('send_denied')` where the send policy would not let the answer out: nothing is asked of the model then (A9/98). */
const refuseWhenDenied = ({ config }: GatewayContext, key: SessionKey, row: IndexRow | null): void => {
  const { action, rule } = sendDecision(config.session.sendPolicy, {
    key,
    ...(row && { channel: listFactsOf(row, config.session.mainKey).channel, override: row.settings.sendPolicy }),
  });
  if (action === 'deny') throw new NatterError('send_denied', `nothing may be sent in this session: ${rule} denies it`);
};

/**
 * Says no at once where the session would say no later; the session's own refusal is what counts, this saves the way. The index may be
 * late, so a queue that seems full is looked at again: a message sent after `/stop` runs (A11/125).
 */
export const refuseWhenFull = async ({ sessions }: GatewayContext, key: SessionKey): Promise<void> => {
  if (isFull(sessions.peek(key))) refuseFull(await sessions.get(key));
};

const isFull = (row: IndexRow | null | undefined): boolean => (row?.queuedTurns ?? 0) >= limits.queuedTurns;

const refuseFull = (row: IndexRow | null): void => {
  if (isFull(row)) throw new NatterError('overloaded', `${limits.queuedTurns} messages wait in this session; try again later`);
};

const envelopeFor = (
  { access, config, ports }: GatewayContext,
  asker: Asker,
  { key, text, idempotencyKey, literal }: Posting,
): CommandEnvelope => {
  const at = ports.clock.now();
  const id = runIdOf(key, idempotencyKey === undefined ? uuidv7() : onceIdOf(asker, key, 'post_message', idempotencyKey));
  const { principal } = asker;
  const message = { messageId: id, text, sender: speakerOf(principal, undefined, access.identities) };
  return envelopeOf(asker, { id, key, at, data: commandSaid(config, { key, at, message, principal, literal }) });
};
