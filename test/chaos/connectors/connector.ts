import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../../shared/client/main.ts';
import type { Post, Update } from './platform.ts';

/**
 * A connector as its author would write it, in a process of its own: takes updates from `PLATFORM_URL` and posts each as an envelope to
 * `NATTER_URL` with the channel's token, in order per chat. It remembers nothing: what it has not confirmed when it is killed comes again.
 */
const { PLATFORM_URL = '', NATTER_URL = '', NATTER_TOKEN = '' } = process.env;
const client = createClient({ url: NATTER_URL, token: NATTER_TOKEN, patienceMs: 60_000 });
process.on('disconnect', () => process.exit());

/** Chats with an odd number are those of a platform that does not count: there only the id tells a repeat. */
const envelopeOf = ({ id, chat, number, text }: Post): object => ({
  ...{ id, channel: 'telegram', conversation: { id: chat, kind: 'group' }, sender: { id: '42', name: 'Ann' }, text },
  ...(Number(chat) % 2 === 0 && { order: number }),
  mentioned: text.startsWith('@natter'),
});

let offset = 0;
for (;;) {
  const updates = (await (await fetch(`${PLATFORM_URL}?offset=${offset}`)).json()) as Update[];
  const chats = new Set(updates.map(({ post }) => post.chat));
  await Promise.all(
    [...chats].map(async (chat) => {
      for (const { post } of updates)
        if (post.chat === chat) await client.post('/v1/inbound', envelopeOf(post), { repeatable: true });
    }),
  );
  offset = (updates.at(-1)?.updateId ?? offset - 1) + 1;
  if (updates.length === 0) await delay(20);
}
