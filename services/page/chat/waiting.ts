import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ApprovalItem, ChatItem } from './chat-model.ts';

/** What waits in a chat: messages for the turns before theirs, and calls for a person. */

/** Whether a message of a channel wanted no turn: in a group, where the agent was not addressed. Calls may append what was answered elsewhere. */
export const wantsNoAnswer = ({ turnId, message: { channel, deliverTo, answers } }: EventOf<'user_message'>): boolean =>
  turnId === undefined && (channel ?? deliverTo) !== undefined && answers === undefined;

/** The items with a question: it stands above its call, so that the outcome is below the answer. */
export const withQuestion = (items: readonly ChatItem[], question: ApprovalItem): readonly ChatItem[] => {
  const call = items.findIndex((item) => item.kind === 'tool' && item.id === question.request.callId);
  return call < 0 ? [...items, question] : items.toSpliced(call, 0, question);
};

/** The same items where none of these turns' messages waits, or begins to. */
export const whereQueued = (items: readonly ChatItem[], turnIds: readonly string[], isQueued: boolean): readonly ChatItem[] => {
  const isWanted = (item: ChatItem) =>
    item.kind === 'said' && item.turnId !== undefined && turnIds.includes(item.turnId) && (item.isQueued ?? false) !== isQueued;
  return items.some(isWanted) ? items.map((item) => (isWanted(item) ? ({ ...item, isQueued } as ChatItem) : item)) : items;
};

/** The same items where these turns' messages wait no more: each stands where its answer begins. */
export const whereBegun = (items: readonly ChatItem[], turnIds: readonly string[]): readonly ChatItem[] => {
  const began = (item: ChatItem): boolean =>
    item.kind === 'said' && item.isQueued === true && item.turnId !== undefined && turnIds.includes(item.turnId);
  if (!items.some(began)) return items;
  const moved = items.filter(began).map((item) => ({ ...item, isQueued: false }) as ChatItem);
  return [...items.filter((item) => !began(item)), ...moved];
};
