import { limits } from '../../../kit/limits.ts';
import { hasRoom, isStranger } from '../../values/queue-share.ts';
import type { Message } from '../../values/types.ts';
import { messageOf } from '../commands.ts';
import type { ActiveTurn, SessionContext } from '../context.ts';
import type { CommandEnvelope } from '../envelope.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import type { QueuedTurn } from '../queued-turn.ts';
import { accept, awaiting, type BusyView, type Decision, type Given, refOf, type SessionView } from './decision.ts';
import { isSamePlace, renewal } from './generation.ts';
import { isNew, originEvents, participantEvents, readinessEvents } from './opening.ts';

/** Opening and messages (A5/64–70, A13/138, B6, B28). */

/** Opening a stale session shows its content; only the next message ends it (A4/43, 58). */
export const openSession = ({ at, data: { by, expiry: _, ...occasion } }: Given<'open_session'>, view: SessionView): Decision =>
  accept(...readinessEvents(view, occasion, at), ...participantEvents(by));

/** There is no message, so an inactive session stays inactive (A5/63). */
export const recordOrigin = ({ at, data }: Given<'record_origin'>, view: SessionView): Decision => {
  const { expiry: _, deliverTo, ...occasion } = data;
  const known = isNew(view) ? readinessEvents(view, occasion, at) : originEvents(view, data.origin);
  return accept(...known, ...(deliverTo ? [{ type: 'route_changed', v: 1, deliverTo } as const] : []));
};

export const appendMessage = (given: Given<'append_message'>, view: SessionView): Decision => {
  const { data } = given;
  const asks = data.unaddressed && view.context.settings.activation === 'always';
  return asks ? asking({ ...given, data: { ...data, type: 'post_message' } }, view) : appending(given, view);
};

const appending = ({ at, data }: Given<'append_message'> | Given<'post_message'>, view: SessionView): Decision =>
  accept(...readinessEvents(view, data, at), { type: 'user_message', v: 1, message: attributed(data.message, view) });

/**
 * A run's result has no more rights than the sender who started the run; the result of an unknown run has those of a participant.
 */
const attributed = (message: Message, { context: { spawned } }: SessionView): Message => {
  if (message.answers === undefined) return message;
  const run = spawned.find(({ runId }) => runId === message.answers);
  const isTrusted = run !== undefined && run.onBehalfOf === undefined;
  return isTrusted ? message : { ...message, sender: { ...message.sender, onBehalfOf: 'participant' } };
};

/**
 * The stranger who asks for a turn, or who asked for the run whose result this is. The owner may stop every turn anyway, and programs
 * of the owner stop none of their own (D7).
 */
const askedBy = ({ sender, answers }: Message, { spawned }: SessionContext): Pick<QueuedTurn, 'askedBy'> => {
  const asked = isStranger(sender) ? sender.principal : undefined;
  const person = answers === undefined ? asked : spawned.find(({ runId }) => runId === answers)?.askedBy;
  return person === undefined ? {} : { askedBy: person };
};

/** The result of a spawned run is answered where the session's last answers went (A13/138). */
const turnOf = (id: string, message: Message, { context }: SessionView): QueuedTurn => {
  const { messageId, deliverTo, answers } = message;
  const target = deliverTo ?? (answers === undefined ? undefined : (context.route ?? undefined));
  return { id, messageId, ...(target && { deliverTo: target }), ...askedBy(message, context) };
};

/** Stores the message and starts its turn. `quietUntil`: others may join before its first step (B6). */
export const storeAndStartTurn = (turnId: string, message: Message, view: SessionView, quietUntil?: number): SessionEvent[] => [
  { type: 'user_message', v: 1, message, turnId },
  {
    type: 'turn_started',
    v: 1,
    turn: turnOf(turnId, message, view),
    attempt: 1,
    ...(quietUntil !== undefined && { quietUntil }),
  },
];

/** Stores the message. Starts its turn, or, if another is running, follows the queue mode (B6). */
export const postMessage = (given: Given<'post_message'>, view: SessionView): Decision =>
  given.data.unaddressed && view.context.settings.activation === 'mention' ? appending(given, view) : asking(given, view);

const asking = (posted: Given<'post_message'>, view: SessionView): Decision => {
  const { id: turnId, at } = posted;
  const data = { ...posted.data, message: attributed(posted.data.message, view) };
  const given = { ...posted, data };
  switch (view.status) {
    case 'idle':
    case 'inactive':
      return accept(...readinessEvents(view, data, at), ...storeAndStartTurn(turnId, data.message, view, quietUntil(given)));
    case 'running':
    case 'awaiting_approval':
    case 'awaiting_results':
      return whileBusy(given, view);
  }
};

/** Until when a turn that this message starts or joins waits for more messages. */
const quietUntil = ({ at, data: { queue } }: Given<'post_message'>): number | undefined =>
  queue?.debounceMs ? at + queue.debounceMs : undefined;

/** True while the turn waits for more messages before its first step. */
const isQuiet = ({ at }: Given<'post_message'>, { step, quietUntil: until }: ActiveTurn): boolean =>
  step === 1 && until !== undefined && at < until;

const whileBusy = (given: Given<'post_message'>, view: BusyView): Decision => {
  const { id: turnId, at, data } = given;
  const { message, queue: rule = { mode: 'followup' } } = data;
  const mode = rule.chosen ? rule.mode : (view.context.settings.queueMode ?? rule.mode);
  const ready = readinessEvents(view, data, at);
  const turn = { ...turnOf(turnId, message, view), ...renewal(view, data, at) };
  const { client, answers } = message;
  if (view.status === 'awaiting_results' && answers === undefined && mayInterrupt(message, view.turn)) {
    return accept(...interrupting(given, view, 'a newer message came instead of the results of the tools'));
  }
  const joins = mode === 'steer' || isQuiet(given, view.turn);
  if (joins && client === undefined && mayJoin(turn, view)) return accept(...ready, ...joining(given, view));
  if (mode === 'reject') return refusing(given, 'session_busy');
  if (mode === 'interrupt' && mayInterrupt(message, view.turn))
    return accept(...interrupting(given, view, 'a newer message interrupts'));

  const { queue } = view.context;
  const position = queue.length + 1;
  if (!hasRoom(message, rule, queue)) return refusing(given, 'queue_full');
  const collect = mode === 'collect' && client === undefined && { collect: true as const };
  const queued = { ...turn, ...collect, ...(isStranger(message.sender) && { byStranger: true as const }) };
  const waits: SessionEvent = { type: 'turn_queued', v: 1, turn: queued, position };
  return accept(...ready, { type: 'user_message', v: 1, message, turnId }, waits);
};

/** True if one answer can serve both: it is delivered to the right place, and in this generation. */
const mayJoin = (asked: QueuedTurn, { turn }: BusyView): boolean => {
  const reads = asked.deliverTo === undefined || isSamePlace(asked, turn);
  return reads && asked.renews === undefined && turn.task === undefined && turn.joined < limits.queuedTurns;
};

/** The message joins the running turn; its next step sees it. */
const joining = (given: Given<'post_message'>, view: BusyView): SessionEvent[] =>
  joinEvents(given.id, given.data.message, view, isQuiet(given, view.turn) ? quietUntil(given) : undefined);

export const joinEvents = (runId: string, message: Message, { turn, context }: BusyView, until?: number): SessionEvent[] => [
  { type: 'user_message', v: 1, message, turnId: runId },
  {
    type: 'turn_joined',
    v: 1,
    turn: refOf(turn),
    messageId: message.messageId,
    runId,
    ...(until !== undefined && { quietUntil: until }),
    ...askedBy(message, context),
  },
];

/**
 * True for a turn that answers messages, not a requested task. A stranger's message, and that of a program that acts for one, ends
 * only what they alone asked for (D7).
 */
const mayInterrupt = ({ sender }: Message, { task, askedBy }: ActiveTurn): boolean =>
  task === undefined && (!isStranger(sender) || (askedBy !== undefined && askedBy === sender.principal));

/** The newest message wins. The queue stays, in the next generation if the session is stale. */
const interrupting = (given: Given<'post_message'>, { context, position, turn }: BusyView, reason: string): SessionEvent[] => {
  const idle: SessionView = { status: 'idle', turn: null, context: { ...context, turn: null, approval: null }, position };
  return [
    { type: 'turn_aborted', v: 1, turn: refOf(turn), reason, ...awaiting(turn) },
    ...readinessEvents(idle, given.data, given.at),
    ...storeAndStartTurn(given.id, given.data.message, idle, quietUntil(given)),
  ];
};

/**
 * The sender was told "accepted", so the outcome must be in the history (I1). If the message was the result of a spawned run,
 * this also records that the run is over.
 */
const refusing = ({ id: turnId, data }: CommandEnvelope, code: EventOf<'message_refused'>['code']): Decision => {
  const { messageId = turnId, answers } = messageOf(data) ?? {};
  return accept({ type: 'message_refused', v: 1, messageId, turnId, code, ...(answers !== undefined && { answers }) });
};

/** True for a command scheduled in a session that has been deleted since, whether or not the session was used again (C9). */
export const isCancelled = ({ ifGeneration }: CommandEnvelope, { context }: SessionView): boolean =>
  ifGeneration !== undefined && ifGeneration <= context.deletedGeneration;

/** The caller was told "scheduled", so this too must be in the history (I1). Every scheduled command carries a message. */
export const refuseCancelled = (envelope: CommandEnvelope): Decision => refusing(envelope, 'session_deleted');
