import { signal } from '@preact/signals';
import { client, problemOf } from '../base/signed-in.ts';
import { readAgain } from './session-list.ts';

/** The sessions that are chosen for one thing that is done to all of them. */
export const chosen = signal<ReadonlySet<string>>(new Set());
/** Whether rows can be chosen. */
export const isChoosing = signal(false);
/** What became of the last thing that was done. */
export const outcome = signal<string | null>(null);

export const choosing = (isOn: boolean): void => {
  isChoosing.value = isOn;
  chosen.value = new Set();
  outcome.value = null;
};

export const toggle = (key: string): void => {
  const keys = new Set(chosen.value);
  if (!keys.delete(key)) keys.add(key);
  chosen.value = keys;
};

export const deeds = {
  archive: {
    words: 'Archive',
    done: 'archived',
    act: (key: string) => client.sessions.deactivate(key, { reason: 'archived on the page' }),
  },
  open: { words: 'Take back', done: 'taken back', act: (key: string) => client.sessions.open(key) },
  pin: { words: 'Pin', done: 'pinned', act: (key: string) => client.sessions.patch(key, { pinned: true }) },
  unpin: { words: 'Unpin', done: 'unpinned', act: (key: string) => client.sessions.patch(key, { pinned: null }) },
  delete: { words: 'Delete', done: 'deleted', act: (key: string) => client.sessions.delete(key) },
} as const;
export type Deed = keyof typeof deeds;

/** Calls at the same time. */
const atOnce = 4;

/** Does one thing to all that are chosen, each by itself: those that cannot stay chosen, and the first reason is told. */
export const doToAll = async (deed: Deed): Promise<void> => {
  const { act, done } = deeds[deed];
  const rest = chosen.value.values();
  const failed = new Set<string>();
  let problem = '';
  let count = 0;
  const worker = async (): Promise<void> => {
    for (const key of rest)
      try {
        await act(key);
        count += 1;
      } catch (error) {
        failed.add(key);
        problem ||= problemOf(error);
      }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  chosen.value = failed;
  outcome.value = `${count} ${done}${failed.size > 0 ? `, ${failed.size} not: ${problem}` : ''}.`;
  await readAgain();
};
