import type { NatterEvent } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { sessionChannel } from '../../../shared/domain/values/types.ts';
import { sessionCutBy, turnCuts } from '../approvals/ending.ts';
import { reasoningText } from '../parts/model-words.ts';
import type { Chat, ChatItem, MarkItem, SaidItem, ToolItem } from './chat-model.ts';
import { stoppedWith } from './mark-texts.ts';
import { saysSetting } from './resets.ts';
import { aboveWaiting } from './waiting.ts';

/** The answers of a chat: which bubble is whose, and what a stop leaves of one. */

/** The id of a turn's answer, while it grows and when it is recorded; `null` where the turn has answered already. */
export const answerId = (items: readonly ChatItem[], turnId: string): string | null => {
  const id = `answer:${turnId}`;
  return items.some((item) => item.id === id) ? null : id;
};

/** Of an answer for a channel: which event is sent there. What goes to another session is no message to a person. */
export const sentTo = ({ id, deliverTo }: NatterEvent & EventOf<'assistant_message'>): Pick<SaidItem, 'sentTo'> =>
  deliverTo && deliverTo.channel !== sessionChannel ? { sentTo: { event: id, channel: deliverTo.channel } } : {};

/** How far answers had come that were stopped while they were shown, by turn, after an event. */
const cutAt = ({ live, cut }: Chat, event: NatterEvent): Chat['cut'] =>
  event.type === 'turn_aborted' && live?.turnId === event.turn.id && live.text.trim() !== ''
    ? { ...cut, [live.turnId]: live.text }
    : cut;

/** The items with what an event stops: without open calls and questions, and with the answer as far as it was in sight. */
export const withStopped = (before: readonly ChatItem[], event: NatterEvent, cut: Chat['cut']): readonly ChatItem[] => {
  const items = withoutOpen(before, event);
  const text = event.type === 'turn_aborted' ? cut[event.turn.id] : undefined;
  if (event.type !== 'turn_aborted' || text === undefined) return items;
  const { id, seq, at, turn } = event;
  const said = { kind: 'said', role: 'assistant', seq, at, text, isStopped: true } as const;
  return aboveWaiting(items, { ...said, id: answerId(items, turn.id) ?? id });
};

/** Whether the page shows what there was of the answer that was stopped here. */
export const isStoppedInSight = (items: readonly ChatItem[], seq: number): boolean =>
  items.some((item) => item.kind === 'said' && item.isStopped === true && item.seq === seq);

/** The items with a notice as its mark. What `/stop` has ended is said where the answer was stopped, once. */
export const withNotice = (
  items: readonly ChatItem[],
  event: NatterEvent & EventOf<'notice'>,
  mark: MarkItem,
): readonly ChatItem[] => {
  const { notice, seq, correlationId: runId } = event;
  const at = notice.code === 'stopped' ? items.findIndex((item) => item.kind === 'mark' && item.seq === seq) : -1;
  const stopped = items[at];
  if (stopped?.kind === 'mark')
    return items.with(at, { ...stopped, text: stoppedWith(notice, isStoppedInSight(items, seq)), runId });
  const details = { isOfSetting: saysSetting(event), ...(notice.code === 'export' && { leadsTo: 'transcript' as const }) };
  return [...items, { ...mark, runId, ...details }];
};

/** The answer that is growing, which is shown after the items; `null` while there is none. */
export const growingItem = ({ items, live, seq }: Chat): SaidItem | null => {
  if (live === null || live.text.trim() === '') return null;
  const id = answerId(items, live.turnId) ?? `live:${live.turnId}`;
  return { kind: 'said', id, seq, at: 0, role: 'assistant', text: live.text, isGrowing: true };
};

/** The items that a model step adds: what was thought in it, what it said before its calls, and the calls. The text of a last step is its answer. */
export const stepItems = (event: NatterEvent & EventOf<'model_step'>): ChatItem[] => {
  if (event.flush) return [];
  const { calls = [], text, turn, step, seq, at } = event;
  const placed = { seq, at };
  const said: ChatItem[] =
    event.finish === 'continue' && text.trim() !== ''
      ? [{ kind: 'said', ...placed, id: `step:${turn.id}:${step}`, role: 'assistant', text, isPart: true }]
      : [];
  const tools = calls.map(
    (call): ToolItem => ({
      kind: 'tool',
      ...placed,
      id: call.callId,
      tool: call.tool,
      given: call.arguments,
      status: 'waiting',
    }),
  );
  const thought = reasoningText(event.reasoning);
  const id = `reasoning:${turn.id}:${turn.attempt}:${step}`;
  return [...(thought === '' ? [] : [{ kind: 'reasoning' as const, ...placed, id, text: thought }]), ...said, ...tools];
};

const starts: ReadonlySet<string> = new Set(['turn_started', 'turn_resumed', 'approval_resolved']);
const ends: ReadonlySet<string> = new Set(
  'turn_completed turn_failed turn_aborted approval_requested session_reset session_deleted history_damaged'.split(' '),
);
/** Text that was live is recorded now, or will never be. */
const settles: ReadonlySet<string> = new Set([...ends, 'assistant_message', 'model_step', 'turn_resumed']);
/** The answer that is under way after an event, and what there was of those that were stopped. */
export const answerAfter = (chat: Chat, event: NatterEvent): Pick<Chat, 'cut' | 'live' | 'isRunning'> => ({
  cut: cutAt(chat, event),
  live: settles.has(event.type) ? null : chat.live,
  isRunning: starts.has(event.type) || (chat.isRunning && !ends.has(event.type)),
});

/** These end a turn, with its calls and the question that it waits for. */
const endsTurn: ReadonlySet<string> = new Set(['turn_failed', 'turn_aborted']);
/** These also end the questions that no turn waits for. */
const endsAll: ReadonlySet<string> = new Set(['session_reset', 'session_deleted', 'history_damaged']);

const isOpen = (item: ChatItem, endsDeferred: boolean): boolean =>
  item.kind === 'tool'
    ? item.status === 'running' || item.status === 'waiting'
    : item.kind === 'approval' && item.answer === undefined && (endsDeferred || item.request.deferred === undefined);

/** When a call has ended. */
export const ended = ({ seq, at }: NatterEvent): Pick<ToolItem, 'endedAt' | 'endedSeq'> => ({ endedAt: at, endedSeq: seq });

/** Closes the open calls and questions: after this event none of them gets a result or an answer. */
const withoutOpen = (items: readonly ChatItem[], event: NatterEvent): readonly ChatItem[] => {
  const { type, seq, at } = event;
  const endsDeferred = endsAll.has(type);
  if (!endsDeferred && !endsTurn.has(type)) return items;
  return items.map((item) => {
    if (!isOpen(item, endsDeferred)) return item;
    if (item.kind === 'tool') return { ...item, status: 'stopped', ...ended(event) };
    if (item.kind !== 'approval') return item;
    const by = sessionCutBy(event) ?? turnCuts[type] ?? 'stopped';
    // A reset or a fork stops the answer with the same commit.
    return item.unanswered === undefined || item.unanswered.seq === seq ? { ...item, unanswered: { by, seq, at } } : item;
  });
};
