import { computed, type ReadonlySignal } from '@preact/signals';
import { counted } from '../../../shared/kit/text/counted.ts';
import type { Chat, ChatItem } from './chat-model.ts';
import { countsOf } from './resets.ts';
import { waitingIn } from './waiting.ts';

/** What is left behind when a conversation goes on from before a message. */

/** What came after a message, as far as it is part of the conversation: of an answer that was stopped nothing is recorded. */
export const laterThan = (items: readonly ChatItem[], id: string): readonly ChatItem[] =>
  items
    .slice(items.findIndex((item) => item.id === id) + 1)
    .filter((item) => item.kind !== 'mark' && item.leftBy === undefined && !(item.kind === 'said' && item.isStopped === true));

/** Whether a call was begun, as far as is known: one that nobody allowed was not. */
export const hasRun = (item: ChatItem): boolean =>
  item.kind === 'tool' && !['waiting', 'denied', 'expired'].includes(item.status);

/** A call that waits for a person. */
const isAsking = (item: ChatItem): boolean =>
  item.kind === 'approval' && item.answer === undefined && item.unanswered === undefined;

/** Whether a reset has ended the conversation of a message since, and was not left behind. */
const hasResetAfter = (items: readonly ChatItem[], id: string): boolean =>
  items
    .slice(items.findIndex((item) => item.id === id))
    .some((item) => item.kind === 'mark' && item.isBeginning === true && item.leftBy === undefined);

/** Whether something ends that is not recorded yet: an answer under way, a question, or a message that waits. */
export const isBusy = ({ items, isRunning }: Pick<Chat, 'items' | 'isRunning'>): boolean =>
  isRunning || items.some(isAsking) || waitingIn(items).length > 0;

/**
 * What somebody is told who goes on from before the message `id`, with the counts that the chat has of it afterwards. `isFirst`: nothing is
 * before it, so that the session is reset.
 */
export const consequences = ({ items, isRunning }: Pick<Chat, 'items' | 'isRunning'>, id: string, isFirst: boolean): string => {
  const later = laterThan(items, id);
  const counts = countsOf(items.slice(items.findIndex((item) => item.id === id)).filter(({ leftBy }) => leftBy === undefined));
  const waiting = waitingIn(items).filter((item) => item.id !== id).length;
  return [
    isFirst ? 'This session is reset and begins anew with this message.' : 'The conversation goes on from before this message.',
    !isFirst && hasResetAfter(items, id) ? ' The reset below it is undone: the agent knows again what was said before it.' : '',
    countsOf(later) === '' ? '' : ` This message and what is below it are left behind: ${counts}. The log keeps them.`,
    isRunning ? ' The answer under way is stopped, and is not kept.' : '',
    items.some(isAsking) ? ' The call that waits for an approval does not run.' : '',
    waiting > 0 ? ` ${counted(waiting, 'message')} in the queue ${waiting === 1 ? 'is' : 'are'} dropped.` : '',
    later.some(hasRun) ? ' Tools run again: a command may be done a second time.' : '',
  ].join('');
};

/** The same as it changes: not with live text, of which nothing is left behind. */
export const consequencesNow = (chat: ReadonlySignal<Chat>, id: string, isFirst: () => boolean): ReadonlySignal<string> => {
  const items = computed(() => chat.value.items);
  const isRunning = computed(() => chat.value.isRunning);
  return computed(() => consequences({ items: items.value, isRunning: isRunning.value }, id, isFirst()));
};
