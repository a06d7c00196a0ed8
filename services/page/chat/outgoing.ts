import { computed, signal } from '@preact/signals';
import type { BegunRun } from '../../../shared/client/main.ts';
import { isTextBySpace } from '../../../shared/domain/routing/chat-help.ts';
import { client } from '../base/signed-in.ts';
import { fileName } from '../files/file-words.ts';
import type { SaidItem } from './chat-model.ts';

/** A message of ours that no event has told of yet. */
export interface Outgoing {
  readonly messageId: string;
  readonly text: string;
  readonly files: readonly File[];
  readonly at: number;
  readonly problem: string | null;
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
  const again = ({ problem, lostFiles, ...one }: Kept): Outgoing =>
    lostFiles === undefined
      ? { ...one, files: [], problem: problem ?? 'The page was loaded again before this was sent.' }
      : {
          ...one,
          files: [],
          lostFiles,
          problem: `The page was loaded again before this was sent. Its files are not kept: ${lostFiles}.`,
        };
  return kept.map(([key, list]) => [key, list.map(again)]);
};

const bySession = signal<ReadonlyMap<string, readonly Outgoing[]>>(new Map(loaded()));

/** The messages to a session that no event has told of yet, the first one first. */
export const outgoingTo = (key: string): readonly Outgoing[] => bySession.value.get(key) ?? [];
/** The sessions with a message that could not be sent. */
export const unsentIn = computed(() => [...bySession.value].filter(([, list]) => list.some(hasFailed)).map(([key]) => key));
const hasFailed = ({ problem }: Outgoing): boolean => problem !== null;

/** Changes what is on its way to a session; this tab keeps it, whichever view is open. */
export const changeOutgoing = (key: string, change: (list: readonly Outgoing[]) => readonly Outgoing[]): void => {
  const list = change(outgoingTo(key));
  const others = [...bySession.value].filter(([each]) => each !== key);
  bySession.value = new Map(list.length === 0 ? others : [...others, [key, list]]);
  const kept = [...bySession.value].map(([each, all]) => [each, all.map(({ files, ...one }) => withNames(one, files))]);
  try {
    if (kept.length === 0) sessionStorage.removeItem(storedName);
    else sessionStorage.setItem(storedName, JSON.stringify(kept));
  } catch {
    // There is no room for it: it is kept until the page is loaded again.
  }
};

const withNames = (one: Kept, files: readonly File[]): Kept =>
  files.length === 0 ? one : { ...one, lostFiles: files.map(fileName).join(', ') };

export const newMessageId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** How long a message with files may be on its way, ms: a line can be slow. */
const uploadMs = 300_000;

/** Posts a message, or the command that it is. The same one again is one message. */
export const postOutgoing = async (key: string, one: Pick<Outgoing, 'messageId' | 'text' | 'files'>): Promise<BegunRun> => {
  const { messageId, files } = one;
  const text = one.text.trim();
  const message = { text, messageId, ...(isTextBySpace(one.text) && { commands: false }) };
  if (files.length === 0) {
    return client.sessions.post(key, message, { idempotencyKey: messageId });
  }
  const { postedFiles } = await import('../files/posted-files.ts');
  const attachments = await postedFiles(files);
  return client.sessions.post(key, { ...message, attachments }, { idempotencyKey: messageId, timeoutMs: uploadMs });
};

/** The files of a message, to be sent again. Throws where one is gone. */
export const filesOf = async (key: string, { attachments = [] }: SaidItem): Promise<File[]> =>
  attachments.length === 0 ? [] : (await import('../files/posted-files.ts')).keptFiles(key, attachments);
