import { signal } from '@preact/signals';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { draftOf, keepDraft } from './draft.ts';
import { go, listQuery } from './route.ts';
import { who } from './signed-in.ts';

/** The key of the chat that was begun last, in this tab. */
export const begun = signal<string | null>(null);
/** The session whose chat somebody goes to in order to write: where it opens, its field has the focus. */
let writing: string | null = null;
/** Whether that is the one that opens: said once, as who comes back to it may want to read. */
export const beginsToWrite = (key: string): boolean => {
  if (writing !== key) return false;
  writing = null;
  return true;
};

/** The session that this tab has begun or forked last, or that a key has led to: the list shows its row where it comes to stand. */
export const broughtUp = signal<string | null>(null);

/** Somebody goes through the sessions to read: the field of the chat that opens does not take the keys. */
export const readIn = (key: string): void => {
  writing = null;
  broughtUp.value = key;
};

/** Opens the chat of a session to write in it. The list beside it stays as it is filtered. */
export const writeIn = (key: string): void => {
  writing = key;
  broughtUp.value = key;
  go(['sessions', key, 'chat'], listQuery());
};

/** Whether the chat that was begun last has nothing in the log yet: then nobody asks the gateway for it. */
const isUnrecorded = signal(false);
export const isUnwritten = (key: string): boolean => isUnrecorded.value && begun.value === key;

/** The name under which the key of the new chat is kept of which nothing was sent yet. */
const unsent = 'new chat';

/** An event was recorded, of whichever session. */
export const noteRecorded = ({ key }: Pick<NatterEvent, 'key'>): void => {
  if (key === begun.peek()) isUnrecorded.value = false;
  if (key === draftOf(unsent)) keepDraft(unsent, null);
};

/** A new session of its own, the key of a chat on the web; or the one in which somebody has written and sent nothing yet. */
export const newChat = (): void => {
  const left = draftOf(unsent);
  if (left !== null && draftOf(left) !== null) begun.value = left;
  else {
    const id = [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(36).padStart(2, '0')).join('');
    begun.value = `agent:${who.value?.agentId ?? 'main'}:web:${id}`;
    keepDraft(unsent, begun.value);
  }
  isUnrecorded.value = true;
  writing = begun.value;
  broughtUp.value = begun.value;
  go(['sessions', begun.value, 'chat']);
};
