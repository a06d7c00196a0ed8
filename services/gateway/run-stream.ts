import { runIdOf } from '../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { isOver } from '../../shared/domain/projections/run.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import { type ApprovalAnswer, resolveApproval, unknownApproval } from './approvals.ts';
import { type Asker, onceIdOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { noSuchSession } from './history.ts';
import { visibleText } from './live-text.ts';
import { post, toldBy } from './posting.ts';
import { Refusal } from './problem.ts';
import { askedRunOf, beginningOf, messageBefore } from './run-beginning.ts';
import { type RunEvent, RunTeller } from './run-events.ts';
import { tellBefore } from './telling-before.ts';

/** Runs told to whoever speaks a protocol of user interfaces: from their beginning, as far as they have come, and on as they go. */

/** Takes what happens, writes it at once, and resolves when more may come. An empty list: the run is there, and there is nothing to tell. */
export type TakeEvents = (events: readonly RunEvent[]) => Promise<void>;

/** `signal` ends the telling, never the run. */
interface Told {
  readonly key: SessionKey;
  readonly signal: AbortSignal;
}

/** What a person says. The same `once` again is the same run; `field` is where it was given. */
export interface Said {
  readonly text: string;
  readonly once: string;
  readonly field: string;
}
/** `background`: what the session is told before it. */
type Message = Told & Said & { readonly background?: string };

/** The run of a message. */
export const runIdFor = (asker: Asker, { key, once }: Pick<Message, 'key' | 'once'>): string =>
  runIdOf(key, onceIdOf(asker, key, 'post_message', once));

/**
 * Posts a message and tells its run; of a repeat the one that there is. A text may be a chat command (A11): it is people who type here.
 * Throws as `post`, and `Refusal` where the session says no.
 */
export const tellMessage = async (
  context: GatewayContext,
  asker: Asker,
  { key, text, once, field, background = '', signal }: Message,
  take: TakeEvents,
): Promise<void> => {
  const { access, feed, ports } = context;
  const runId = runIdFor(asker, { key, once });
  const seen = await access.enter(asker.principal, key);
  const { position } = feed;
  const known = await beginningOf(ports, key, runId, seen);
  const told = toldBy(context, asker, { key, text, idempotencyKey: once, literal: false });
  if (known !== null) {
    const same = 'message' in told ? told.message?.text : undefined;
    if (known.text !== undefined && known.text !== same) throw saidOtherwise(field);
    return follow(context, asker, { key, runId, after: known.after, signal }, take);
  }
  if (told.type === 'post_message' && told.queue?.mode !== 'interrupt') await refuseUnanswered(context, key);
  if (background !== '') await tellBefore(context, asker, { key, text: background, idempotencyKey: undefined, signal });
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const telling = follow(context, asker, { key, runId, after: position, signal: until }, take);
  const waiting = { waitMs: limits.waitSeconds * 1_000, signal: until };
  const posted = post(context, asker, { key, text, idempotencyKey: once, literal: false, ...waiting });
  try {
    const run = await Promise.race([telling.then(() => null), posted.then((accepted) => accepted.run)]);
    if (!isOver(run)) return await telling;
    const recorded = await beginningOf(ports, key, runId, seen);
    if (recorded !== null && recorded.after >= position) return await telling;
    // Either nothing is recorded of it, or it was when we began to listen and no replica had said so.
    over.abort();
    if (recorded !== null) return await follow(context, asker, { key, runId, after: recorded.after, signal }, take);
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

/** What would wait behind a turn that waits for a person itself: its stream would not end, and a page that shows one at a time could not answer. */
const refuseUnanswered = async ({ sessions }: GatewayContext, key: SessionKey): Promise<void> => {
  const { approval = null } = (await sessions.get(key)) ?? {};
  if (approval !== null) throw new Refusal('session_busy', `a person is asked; answer approval ${approval.approvalId} first`);
};

/** A person's answer to what a run asks. */
export type Answer = Pick<ApprovalAnswer, 'approvalId' | 'verdict' | 'reason'>;

/** Gives the answer and tells what comes of it; where the same was answered before, only that. Throws as `resolveApproval`. */
export const tellAnswered = async (
  context: GatewayContext,
  asker: Asker,
  { key, approvalId: given, verdict, reason, signal }: Told & Answer,
  take: TakeEvents,
): Promise<void> => {
  const approvalId = given.toLowerCase();
  const seen = await context.access.enter(asker.principal, key);
  const asked = await askedRunOf(context.ports, key, approvalId, seen);
  if (asked === null) throw unknownApproval();
  const isAnswered = asked.verdict !== undefined && (asked.verdict === 'granted') === (verdict !== 'deny');
  const once = { sessionKey: key, idempotencyKey: `${approvalId} ${verdict}` };
  if (!isAnswered) await resolveApproval(context, asker, { approvalId, verdict, reason, ...once });
  await follow(context, asker, { key, runId: asked.runId, after: asked.after, answered: approvalId, signal }, take);
};

/** The turn that runs in a session, or waits for a person, to be told from its beginning; `null` where none does. */
export const runningIn = async (context: GatewayContext, asker: Asker, key: SessionKey) => {
  const seen = await context.access.enter(asker.principal, key);
  const row = await context.sessions.get(key);
  const runId = row?.activeTurnId ?? null;
  if (row === null || runId === null) return null;
  const beginning =
    (await beginningOf(context.ports, key, runId, seen)) ??
    (await messageBefore(context.ports, key, runId, seen, { after: row.seq }));
  if (beginning === null) return null;
  const tell = (signal: AbortSignal, take: TakeEvents) =>
    follow(context, asker, { key, runId, after: beginning.after, signal }, take);
  return { runId, tell };
};

interface Followed extends Told {
  readonly runId: string;
  readonly after: number;
  /** Only what comes after the answer to this approval. */
  readonly answered?: string;
}

/** Reads on in the log, and in the live text, until the run is over or waits for a person. Throws `noSuchSession()` and as `RunTeller`. */
const follow = async (
  context: GatewayContext,
  { principal }: Asker,
  { key, runId, after, answered, signal }: Followed,
  take: TakeEvents,
): Promise<void> => {
  const { feed, access, sessions, ports, log } = context;
  const teller = new RunTeller(runId, answered);
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
      // One that was answered since is told on.
      if (last?.type !== 'approval' || (await sessions.get(key))?.approval?.approvalId !== last.approvalId) continue;
      return take(teller.pause());
    }
  };
  void live().catch((error: unknown) => log.warn({ err: error }, 'live text of a run ended'));
  try {
    await recorded();
  } finally {
    over.abort();
  }
};
