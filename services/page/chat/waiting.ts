import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ApprovalItem, ChatItem } from './chat-model.ts';

/** What waits in a chat: messages for the turns before theirs, and calls for a person. */

/** Whether a message waits for its answer. */
export interface QueueState {
  /** It waits for the turns before it. */
  readonly isQueued?: boolean;
  /** It was stopped while it waited. */
  readonly isDropped?: boolean;
  /** It was dropped alone, by whoever took it back. */
  readonly isTakenBack?: boolean;
  /** It was said in a group, and not to the agent. */
  readonly isUnanswered?: boolean;
}

/** Whether a message of a channel wanted no turn: in a group, where the agent was not addressed. Calls may append what was answered elsewhere. */
export const wantsNoAnswer = ({ turnId, message: { channel, deliverTo, answers } }: EventOf<'user_message'>): boolean =>
  turnId === undefined && (channel ?? deliverTo) !== undefined && answers === undefined;

/** The items with a question: it stands above its call, so that the outcome is below the answer. */
export const withQuestion = (items: readonly ChatItem[], question: ApprovalItem): readonly ChatItem[] => {
  const call = items.findIndex((item) => item.kind === 'tool' && item.id === question.request.callId);
  return call < 0 ? [...items, question] : items.toSpliced(call, 0, question);
};

/** The messages that wait for the turns before them. */
export const waitingIn = (items: readonly ChatItem[]): readonly ChatItem[] =>
  items.filter((item) => item.kind === 'said' && item.isQueued === true);

const waitsFor = (item: ChatItem, turnIds: readonly string[]): boolean =>
  item.kind === 'said' && item.isQueued === true && item.turnId !== undefined && turnIds.includes(item.turnId);
const isWaitingOrDropped = (item: ChatItem): boolean =>
  item.kind === 'said' && (item.isQueued === true || item.isDropped === true);
/** The items with those moved to their end that wait for these turns, above what was said after them and waits or was dropped. */
const movedToEnd = (items: readonly ChatItem[], turnIds: readonly string[], change: QueueState): readonly ChatItem[] => {
  const moved = items.filter((item) => waitsFor(item, turnIds));
  return moved.reduce<readonly ChatItem[]>(
    (all, item) => {
      const end = all.findLastIndex((each) => !isWaitingOrDropped(each) || each.seq < item.seq) + 1;
      return all.toSpliced(end, 0, { ...item, ...change } as ChatItem);
    },
    moved.length === 0 ? items : items.filter((item) => !moved.includes(item)),
  );
};

/** The items where the message of this turn waits. */
export const whereQueued = (items: readonly ChatItem[], turnId: string): readonly ChatItem[] =>
  items.map((item) => (item.kind === 'said' && item.turnId === turnId ? { ...item, isQueued: true } : item));

/** The same items where these turns' messages wait no more: each stands where its answer begins. */
export const whereBegun = (items: readonly ChatItem[], turnIds: readonly string[]): readonly ChatItem[] =>
  movedToEnd(items, turnIds, { isQueued: false });

/** The same items where these turns' messages will not be answered: they stand below the answer that they waited for. */
export const whereDropped = (items: readonly ChatItem[], { turnIds, reason }: EventOf<'queue_cleared'>): readonly ChatItem[] =>
  movedToEnd(items, turnIds, { isQueued: false, isDropped: true, ...(reason === 'cancelled' && { isTakenBack: true }) });

/** The items with what belongs to the answer under way: above the messages that waited for its end. */
export const aboveWaiting = (items: readonly ChatItem[], ...added: readonly ChatItem[]): readonly ChatItem[] =>
  items.toSpliced(answerEnd(items), 0, ...added);
/** Where the messages begin that wait for the end of an answer, or were dropped while they did. */
export const answerEnd = (items: readonly ChatItem[]): number => items.findLastIndex((each) => !isWaitingOrDropped(each)) + 1;
