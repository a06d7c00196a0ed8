import { signal } from '@preact/signals';
import { go } from './route.ts';
import { who } from './signed-in.ts';

/** The key of the chat that was begun last, in this tab: where it opens, a person can write at once. */
export const begun = signal<string | null>(null);

/** A new session of its own: the key of a chat on the web. */
export const newChat = (): void => {
  const id = [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(36).padStart(2, '0')).join('');
  begun.value = `agent:${who.value?.agentId ?? 'main'}:web:${id}`;
  go(['sessions', begun.value, 'chat']);
};
