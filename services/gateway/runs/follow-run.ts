import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isOver } from '../../../shared/domain/projections/run.ts';
import type { ClientRequest } from '../../../shared/domain/values/client-request.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { type ApprovalAnswer, resolveApproval, unknownApproval } from '../approvals/approvals.ts';
import type { IncomingFile } from '../attachments/incoming-file.ts';
import { type Caller, idempotentIdOf } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { noSuchSession } from '../context/history.ts';
import { Refusal } from '../http/problem.ts';
import { appendContext } from '../messages/append-context.ts';
import { type GivenResults, giveResults } from '../messages/give-results.ts';
import { commandFor, submitMessage } from '../messages/submit-message.ts';
import { visibleText } from './live-text.ts';
import { type RunEvent, RunEventStream } from './run-event-stream.ts';
import { askedRunOf, beginningOf, messageBefore } from './run-start.ts';

/** Streams runs to user interfaces: from their start, through what is recorded, and on as they go. */

/** Takes events, writes them at once, and resolves when the client can take more. An empty list: the run exists, but has no event yet. */
export type RunEventSink = (events: readonly RunEvent[]) => Promise<void>;

/** `signal` ends the stream, never the run. */
interface Streamed {
  readonly key: SessionKey;
  readonly signal: AbortSignal;
}

/** A person's message. The same key again is the same run; `field` is where the key was given. */
export interface UserText {
  readonly text: string;
  readonly idempotencyKey: string;
  readonly field: string;
  /** What its program brings along, and calls it. */
  readonly client?: ClientRequest | undefined;
  readonly clientId?: string | undefined;
  readonly files?: readonly IncomingFile[] | undefined;
}
/** `background`: context to append before it. */
type Message = Streamed & UserText & { readonly background?: string };

/** The run of a message. */
export const runIdFor = (caller: Caller, { key, idempotencyKey }: Pick<Message, 'key' | 'idempotencyKey'>): string =>
  runIdOf(key, idempotentIdOf(caller, key, 'post_message', idempotencyKey));

/**
 * Submits a message and streams its run, or the existing run of a repeated message. The text may be a chat command (A11): people type here.
 * Throws as `submitMessage`, and `Refusal` if the session refuses.
 */
export const streamMessage = async (
  context: GatewayContext,
  caller: Caller,
  { key, text, idempotencyKey, field, client, clientId, files, background = '', signal }: Message,
  take: RunEventSink,
): Promise<void> => {
  const { access, feed, ports } = context;
  const runId = runIdFor(caller, { key, idempotencyKey });
  const seen = await access.enter(caller.principal, key);
  const { position } = feed;
  const known = await beginningOf(ports, key, runId, seen);
  const told = await commandFor(context, caller, { key, text, idempotencyKey, literal: false });
  if (known !== null) {
    const same = 'message' in told ? told.message?.text : undefined;
    if (known.text !== undefined && known.text !== same) throw saidOtherwise(field);
    return follow(context, caller, { key, runId, after: known.after, signal }, take);
  }
  if (told.type === 'post_message' && told.queue?.mode !== 'interrupt') await refuseUnanswered(context, key);
  if (background !== '') await appendContext(context, caller, { key, text: background, idempotencyKey: undefined, signal });
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const telling = follow(context, caller, { key, runId, after: position, signal: until }, take);
  const waiting = { waitMs: limits.waitSeconds * 1_000, signal: until };
  const posted = submitMessage(context, caller, {
    key,
    text,
    client,
    clientId,
    files,
    field: 'messages',
    idempotencyKey,
    literal: false,
    ...waiting,
  });
  try {
    const run = await Promise.race([telling.then(() => null), posted.then((accepted) => accepted.run)]);
    if (!isOver(run)) return await telling;
    const recorded = await beginningOf(ports, key, runId, seen);
    if (recorded !== null && recorded.after >= position) return await telling;
    // Either nothing is recorded of the run, or it was recorded before we started to listen.
    over.abort();
    if (recorded !== null) return await follow(context, caller, { key, runId, after: recorded.after, signal }, take);
    const { code, message } = run.status === 'error' ? run.error : { code: 'refused', message: 'nothing is recorded of it' };
    throw new Refusal(code, message);
  } finally {
    over.abort();
    await Promise.allSettled([telling, posted]);
  }
};

const saidOtherwise = (field: string): NatterError =>
  new NatterError(
    'invalid',
    `${field}: another text was sent under this id; what was said cannot be changed, send a new message`,
    {
      field,
    },
  );

/** Streams a run that is known already, from its start. */
export const streamKnownRun = async (
  context: GatewayContext,
  caller: Caller,
  { key, runId, signal }: Streamed & { readonly runId: string },
  take: RunEventSink,
): Promise<void> => {
  const seen = await context.access.enter(caller.principal, key);
  const after = (await beginningOf(context.ports, key, runId, seen))?.after ?? seen;
  await follow(context, caller, { key, runId, after, signal }, take);
};

/** Refuses a message behind a turn that awaits approval: its stream would not end, and a page that shows one run at a time could not answer. */
const refuseUnanswered = async ({ sessions }: GatewayContext, key: SessionKey): Promise<void> => {
  const { approval = null } = (await sessions.get(key)) ?? {};
  if (approval !== null) throw new Refusal('session_busy', `a person is asked; answer approval ${approval.approvalId} first`);
};

/** A person's decision about an approval. */
export type Decision = Pick<ApprovalAnswer, 'approvalId' | 'verdict' | 'reason'>;

/** Submits a decision and streams the rest of the run; for a repeated decision only the stream. Throws as `resolveApproval`. */
export const streamDecision = async (
  context: GatewayContext,
  caller: Caller,
  { key, approvalId: given, verdict, reason, signal }: Streamed & Decision,
  take: RunEventSink,
): Promise<void> => {
  const approvalId = given.toLowerCase();
  const seen = await context.access.enter(caller.principal, key);
  const asked = await askedRunOf(context.ports, key, approvalId, seen);
  if (asked === null) throw unknownApproval();
  const isAnswered = asked.verdict !== undefined && (asked.verdict === 'granted') === (verdict !== 'deny');
  const repeatable = { sessionKey: key, idempotencyKey: `${approvalId} ${verdict}` };
  if (!isAnswered) await resolveApproval(context, caller, { approvalId, verdict, reason, ...repeatable });
  await follow(context, caller, { key, runId: asked.runId, after: asked.after, answered: approvalId, signal }, take);
};

/** Gives the results of a program's own tools and streams the rest of the run; for repeated results only the stream. Throws as `giveResults`. */
export const streamResults = async (
  context: GatewayContext,
  caller: Caller,
  { signal, ...given }: GivenResults & Streamed,
  take: RunEventSink,
): Promise<void> => {
  const { key } = given;
  const { runId, seen, after } = await giveResults(context, caller, given);
  const known = await beginningOf(context.ports, key, runId, seen);
  await follow(context, caller, { key, runId, after: Math.min(after, known?.after ?? after), signal }, take);
};

/** The turn that runs in a session or awaits approval, to be streamed from its start; `null` without one. */
export const runningTurn = async (context: GatewayContext, caller: Caller, key: SessionKey) => {
  const seen = await context.access.enter(caller.principal, key);
  const row = await context.sessions.get(key);
  const runId = row?.activeTurnId ?? null;
  if (row === null || runId === null) return null;
  const beginning =
    (await beginningOf(context.ports, key, runId, seen)) ??
    (await messageBefore(context.ports, key, runId, seen, { after: row.seq }));
  if (beginning === null) return null;
  const stream = (signal: AbortSignal, take: RunEventSink) =>
    follow(context, caller, { key, runId, after: beginning.after, signal }, take);
  return { runId, stream };
};

interface Followed extends Streamed {
  readonly runId: string;
  readonly after: number;
  /** Only what comes after the decision about this approval. */
  readonly answered?: string;
}

/** True if the run that said this waits now, for a person or for results of a program's tools. */
const isWaiting = async ({ sessions }: GatewayContext, key: SessionKey, last: RunEvent | undefined): Promise<boolean> => {
  if (last?.type === 'approval') return (await sessions.get(key))?.approval?.approvalId === last.approvalId;
  return last?.type === 'handed_over' && (await sessions.get(key))?.status === 'awaiting_results';
};

/** Follows the log and the live text until the run is over or awaits approval. Throws `noSuchSession()` and as `RunEventStream`. */
const follow = async (
  context: GatewayContext,
  { principal }: Caller,
  { key, runId, after, answered, signal }: Followed,
  take: RunEventSink,
): Promise<void> => {
  const { feed, access, ports, log } = context;
  const teller = new RunEventStream(runId, answered);
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const live = async (): Promise<void> => {
    const visible = visibleText((turnId) => turnId === teller.turnId && access.showsText(principal, key, turnId));
    for await (const delta of ports.live.subscribe(key, until)) {
      const seen = visible(delta);
      if (seen !== null && !until.aborted) await take(teller.live(seen));
    }
  };
  const recorded = async (): Promise<void> => {
    for await (const commit of feed.follow({ after, key, signal: until })) {
      if (!(await access.shows(principal, commit))) throw noSuchSession();
      const events = teller.take(commit);
      if (teller.isBegun) await take(events);
      const last = events.at(-1);
      if (last?.type === 'end') return;
      // If it was answered since, the stream goes on.
      if (await isWaiting(context, key, last)) return take(teller.pause());
    }
  };
  void live().catch((error: unknown) => log.warn({ err: error }, 'live text of a run ended'));
  try {
    await recorded();
  } finally {
    over.abort();
  }
};
