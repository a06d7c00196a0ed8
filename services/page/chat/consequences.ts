import type { ChatItem } from './chat-model.ts';
import { countsOf } from './resets.ts';

/** What is left behind when a conversation goes on from before a message. */

/** What came after a message, as far as it is part of the conversation: of an answer that was stopped nothing is recorded. */
export const laterThan = (items: readonly ChatItem[], id: string): readonly ChatItem[] =>
  items
    .slice(items.findIndex((item) => item.id === id) + 1)
    .filter((item) => item.kind !== 'mark' && item.isLeft !== true && !(item.kind === 'said' && item.isStopped === true));

/** What somebody is told who goes on from before a message. `isRunning`: an answer is under way. */
export const consequences = (later: readonly ChatItem[], isRunning: boolean): string => {
  const counts = countsOf(later);
  const left = counts === '' ? '' : `, and leaves behind what is below it: ${counts}. That stays in the log`;
  const again = later.some(({ kind }) => kind === 'tool') ? ' Tools run again: a command may be done a second time.' : '';
  const stopped = isRunning ? ' The answer under way is stopped, and is not kept.' : '';
  return `The conversation goes on from before this message${left}.${stopped}${again}`;
};
