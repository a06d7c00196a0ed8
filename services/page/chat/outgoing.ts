import { computed, signal } from '@preact/signals';
import { fileName } from '../files/file-words.ts';
import type { SaidItem } from './chat-model.ts';

/** A message of ours that no event has told of yet. */
export interface Outgoing {
  readonly messageId: string;
  readonly text: string;
  readonly files: readonly File[];
  readonly at: number;
  readonly problem: string | null;
  /** There is no connection: it is sent once there is one again. */
  readonly isWaiting?: boolean;
  /** The names of its files, which are gone with a reload of the page: it cannot be sent as it was. */
  readonly lostFiles?: string;
}

/** What the tab keeps of them through a reload, by session: files are too large. */
const storedName = 'natter-outgoing';
type Kept = Omit<Outgoing, 'files'>;

const loaded = (): [string, readonly Outgoing[]][] => {
  const text = sessionStorage.getItem(storedName);
  if (text === null) return [];
  const kept: [string, Kept[]][] = JSON.parse(text);
  const again = ({ lostFiles, ...one }: Kept): Outgoing =>
    lostFiles === undefined
      ? { ...one, files: [] }
      : { ...one, files: [], lostFiles, problem: `${loadedAgain} Its files are not kept: ${lostFiles}.` };
  return kept.map(([key, list]) => [key, list.map(again)]);
};
/** Why a message was not sent that was on its way when the page was loaded. */
export const loadedAgain = 'The page was loaded again before this was sent.';

const bySession = signal<ReadonlyMap<string, readonly Outgoing[]>>(new Map(loaded()));

/** The messages to a session that no event has told of yet, the first one first. */
export const outgoingTo = (key: string): readonly Outgoing[] => bySession.value.get(key) ?? [];
/** All messages that the page had on their way when it was loaded, by session. */
export const outgoingOfAll = (): readonly (readonly [string, readonly Outgoing[]])[] => [...bySession.peek()];
/** The sessions with a message that could not be sent. */
export const unsentIn = computed(() => [...bySession.value].filter(([, list]) => list.some(hasFailed)).map(([key]) => key));
const hasFailed = ({ problem }: Outgoing): boolean => problem !== null;

/** Changes what is on its way to a session; this tab keeps it, whichever view is open. */
export const changeOutgoing = (key: string, change: (list: readonly Outgoing[]) => readonly Outgoing[]): void => {
  const list = change(bySession.peek().get(key) ?? []);
  const others = [...bySession.peek()].filter(([each]) => each !== key);
  bySession.value = new Map(list.length === 0 ? others : [...others, [key, list]]);
  const kept = [...bySession.value].map(([each, all]) => [each, all.map(({ files, ...one }) => withNames(one, files))]);
  try {
    if (kept.length === 0) sessionStorage.removeItem(storedName);
    else sessionStorage.setItem(storedName, JSON.stringify(kept));
  } catch {
    // There is no room for it: it is kept until the page is loaded again.
  }
};

/** Changes one message that is on its way. */
export const changeOne = (key: string, messageId: string, change: Partial<Outgoing>): void =>
  changeOutgoing(key, (list) => list.map((one) => (one.messageId === messageId ? { ...one, ...change } : one)));

/** Takes a message off those on their way: it has arrived, or is not to be sent any more. */
export const dropOutgoing = (key: string, messageId: string): void =>
  changeOutgoing(key, (list) => list.filter((one) => one.messageId !== messageId));

const withNames = (one: Kept, files: readonly File[]): Kept =>
  files.length === 0 ? one : { ...one, lostFiles: files.map(fileName).join(', ') };

export const newMessageId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** The files of a message, to be sent again. Throws where one is gone. */
export const filesOf = async (key: string, { attachments = [] }: SaidItem): Promise<File[]> =>
  attachments.length === 0 ? [] : (await import('../files/posted-files.ts')).keptFiles(key, attachments);
