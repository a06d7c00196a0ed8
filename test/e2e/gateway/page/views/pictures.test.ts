import { describe, expect, test, vi } from 'vitest';
import { exportLines } from '../../../../../services/cli/stored-export.ts';
import type { Hosts, MemoryPage } from '../../../../../shared/client/main.ts';
import type { SessionKey } from '../../../../../shared/domain/keys/session-key.ts';
import { encodeCommand } from '../../../../../shared/wire/codec.ts';
import { undeliveredCodec } from '../../../../../shared/wire/undelivered.ts';
import type { PageRig } from '../page-rig.ts';
import { goTo, hasBrowser, picture, takesPictures, usePage } from '../use-page.ts';
import { everyView } from './every-view.ts';

/** The pictures of the documents: each view with a conversation as people have them. */

const main = 'agent:main:main' as SessionKey;
const ann = { id: 'ann', name: 'Ann' };

const fill = async ({ ports, client }: PageRig): Promise<void> => {
  const say = (key: string, text: string) => client.sessions.post(key, { text, sender: ann }, { wait: 30 });
  await client.post('/v1/memory', { text: 'Ann prefers short answers.', scope: 'agent:main' });
  await say('agent:main:web:holiday', 'Which trains go to Lisbon?');
  await say('agent:main:web:roses', '[[fail busy]] When do I prune the roses?');
  await say(main, 'The beans are up. When do I plant the tomatoes?');
  await say(main, 'And how far apart?');
  await client.sessions.reset(main, { reason: 'a new week' });
  await say(main, 'Remind me to water the seedlings.');
  await say(main, 'What keeps the snails away?');
  await client.sessions.patch('agent:main:web:roses', { displayName: 'Roses' });
  await client.sessions.patch(main, { displayName: 'Garden' });
  const at = Date.now();
  await client.sessions.post(main, { text: 'Is the soil dry?', sendAt: at + 3_600_000 });
  const data = {
    type: 'append_message',
    sessionId: 's',
    message: { messageId: 'late', text: 'Good night', sender: ann },
  } as const;
  const facts = { v: 1, id: 'late', key: main, at, actor: 'ann', correlationId: 'late', causationId: 'late' } as const;
  const [bytes, subject] = [encodeCommand({ ...facts, data } as never), 'natter.command.0'];
  await ports.deadLetters.put({ id: 'x', service: 'session', reason: 'the session is read-only', subject, at, bytes });
  const target = { channel: 'telegram', to: 'ann' };
  const text = 'The roses want pruning.';
  const undelivered = { id: '2.0', seq: 2, key: main, target, kind: 'assistant_message', text, turnId: 't' } as const;
  await ports.deadLetters.put({
    ...{ id: '2.0', service: 'delivery', reason: 'socket hang up', subject, at },
    bytes: undeliveredCodec.encode({ ...undelivered, outcome: 'unknown' }),
  });
  await vi.waitFor(async () => {
    const { memories } = await client.get<MemoryPage>('/v1/memory');
    const { processes } = await client.get<Hosts>('/v1/hosts');
    expect([memories.length, processes.length]).toEqual([1, 1]);
  });
};

/** The picture of a view: its last word. */
const nameOf = (fragment: string): string => /\/([\w-]+)(\?|$)/.exec(fragment)?.[1] ?? '';

describe.skipIf(!hasBrowser || !takesPictures)('the pictures', () => {
  const { rig, open } = usePage({}, fill);

  test('each view has one', async () => {
    const { page, faults } = await open(1_000);
    for (const [fragment, selector] of everyView(main, '.said-assistant')) {
      // That of the system is its doctor, and all keys look like those that were set.
      if (fragment === '#/system' || fragment.endsWith('?show=all')) continue;
      // What was said stands beside the list, below the head of its session.
      const isWide = fragment.startsWith('#/sessions');
      const size = isWide ? ([1_280, 120_000] as const) : ([1_000] as const);
      await page.setViewportSize({ width: size[0], height: 800 });
      await goTo(page, fragment);
      await page.locator(selector).first().waitFor();
      await picture(page, nameOf(fragment), ...size);
    }
    expect(faults).toEqual([]);
  });

  test('so has an exported file', async () => {
    const lines: string[] = [];
    for await (const line of exportLines(rig().client, main, new Date().toISOString())) lines.push(JSON.stringify(line));
    const { page, faults } = await open(1_000);
    await goTo(page, '#/export');
    const buffer = Buffer.from(`${lines.join('\n')}\n`);
    const file = { name: 'main.jsonl', mimeType: 'application/x-ndjson', buffer };
    await page.getByLabel('A file that natter export wrote').setInputFiles(file);
    await page.getByText('End of the file').waitFor();
    await picture(page, 'export');
    expect(faults).toEqual([]);
  });
});
