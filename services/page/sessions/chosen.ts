import { computed, signal } from '@preact/signals';
import { client, problemOf } from '../base/signed-in.ts';
import { readAgain, rows } from './session-list.ts';

/** The sessions that are chosen for one thing that is done to all of them. */
export const chosen = signal<ReadonlySet<string>>(new Set());
/** Those of them that are in the list, in which something can be done to them. */
export const chosenInList = computed(() => [...chosen.value].filter((key) => rows.value?.byKey.has(key)));
/** Whether rows can be chosen. */
export const isChoosing = signal(false);
/** What became of the last thing that was done. */
export const outcome = signal<string | null>(null);

export const choosing = (isOn: boolean): void => {
  isChoosing.value = isOn;
  chosen.value = new Set();
  outcome.value = null;
};

export const choose = (keys: readonly string[]): void => {
  chosen.value = new Set(keys);
};

export const toggle = (key: string): void => {
  const keys = new Set(chosen.value);
  if (!keys.delete(key)) keys.add(key);
  chosen.value = keys;
};

/** What can be done to a session, and how it is said that it was. */
export const actions = {
  archive: {
    words: 'Archive',
    done: 'archived',
    run: (key: string) => client.sessions.deactivate(key, { reason: 'archived on the page' }),
  },
  restore: { words: 'Restore', done: 'restored', run: (key: string) => client.sessions.open(key) },
  pin: { words: 'Pin', done: 'pinned', run: (key: string) => client.sessions.patch(key, { pinned: true }) },
  unpin: { words: 'Unpin', done: 'unpinned', run: (key: string) => client.sessions.patch(key, { pinned: null }) },
  delete: { words: 'Delete', done: 'deleted', run: (key: string) => client.sessions.delete(key) },
} as const;

/** What is lost with so many sessions, for the question before they are deleted. */
export const lostWords = (count: number): string =>
  count === 1
    ? 'It leaves the lists and the search, what it is doing ends, and messages that are scheduled for it are refused, and a link to it shows nothing any more. There is no way back: only its history stays in the log, for its owner, until it is erased with “natter erase”.'
    : 'They leave the lists and the search, what they are doing ends, and messages that are scheduled for them are refused, and links to them show nothing any more. There is no way back: only their history stays in the log, for their owners, until it is erased with “natter erase”.';
export type Action = keyof typeof actions;
interface Done {
  readonly done: string;
  run(key: string): Promise<unknown>;
}

export const markingRead: Done = { done: 'marked as read', run: (key) => client.sessions.markRead(key) };

/** Labels as they are written: with commas between them. */
export const labelsIn = (text: string): string[] => [
  ...new Set(text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))),
];

/** Gives these labels to a session, or takes them from it. It keeps the others. */
export const labelling = (words: readonly string[], isTaking: boolean): Done => ({
  done: isTaking ? 'without these labels' : 'labelled',
  run: async (key) => {
    const { settings } = await client.sessions.get(key);
    const others = (settings.labels ?? []).filter((each) => !words.includes(each));
    const labels = isTaking ? others : [...others, ...words];
    await client.sessions.patch(key, { labels: labels.length === 0 ? null : labels });
  },
});

/** Calls at the same time. */
const callsAtOnce = 4;

/** Does one thing to sessions, each by itself. What stays in the list stays chosen, for what is done next; of what fails the first reason is shown. */
export const doToEach = async ({ run, done }: Done, keys: readonly string[]): Promise<void> => {
  const rest = keys.values();
  let problem = '';
  let [count, failed] = [0, 0];
  const worker = async (): Promise<void> => {
    for (const key of rest)
      try {
        await run(key);
        count += 1;
      } catch (error) {
        failed += 1;
        problem ||= problemOf(error);
      }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
  outcome.value = `${count} ${done}${failed > 0 ? `, ${failed} not: ${problem}` : ''}.`;
  await readAgain();
};
