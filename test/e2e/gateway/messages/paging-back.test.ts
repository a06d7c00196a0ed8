import { expect, test, vi } from 'vitest';
import { pathOf, startWorld } from '../setup.ts';

const key = 'agent:main:main';

/** Newest first, page by page, over HTTP (B18). What pages there are is tested in test/unit/gateway/page-back.test.ts. */

test('messages, events and commits are paged backwards, and forwards as before', async () => {
  const { call } = await startWorld();
  for (const text of ['one', 'two', 'three'])
    for (const to of [key, 'agent:main:other']) await call('POST', `${pathOf(to, '/messages')}?wait=30`, { body: { text } });
  const back = async (path: string, name: string, limit: number): Promise<{ id?: string; seq: number }[]> => {
    const items = [];
    for (let before = 'end'; ; ) {
      const { status, body } = await call('GET', `${path}?before=${before}&limit=${limit}`);
      expect(status).toBe(200);
      items.push(...body[name]);
      if (!body.more) return items;
      before = body.next;
    }
  };
  for (const [path, name] of [
    [pathOf(key, '/messages'), 'messages'],
    [pathOf(key, '/events'), 'events'],
    [pathOf(key, '/commits'), 'commits'],
    ['/v1/events', 'events'],
  ] as const) {
    const forwards = (await call('GET', `${path}?limit=1000`)).body[name];
    for (const limit of [1, 4, 1_000])
      expect(await back(path, name, limit), `${path} by ${limit}`).toEqual(forwards.toReversed());
  }
  const newest = await call('GET', `${pathOf(key, '/messages')}?before=end&limit=1`);
  expect(newest.body.messages).toMatchObject([{ role: 'assistant', text: 'you said: three' }]);
});

test('a page has one direction, and a stream goes forwards', async () => {
  const { call } = await startWorld();
  await call('POST', `${pathOf(key, '/messages')}?wait=30`, { body: { text: 'one' } });
  for (const query of ['before=end&after=0', 'before=now', 'before=1.'])
    expect((await call('GET', `${pathOf(key, '/messages')}?${query}`)).body, query).toMatchObject({
      code: 'invalid',
      field: 'before',
    });
  const headers = { accept: 'text/event-stream' };
  const stream = await call('GET', `${pathOf(key, '/events')}?before=end`, { headers });
  expect(stream.body).toMatchObject({ code: 'invalid', field: 'before' });
});

test('what was said is found by its words, as it counts now, and not what is gone (B19)', async () => {
  const { call } = await startWorld();
  const say = (text: string, to = key) => call('POST', `${pathOf(to, '/messages')}?wait=30`, { body: { text } });
  await say('The ferry leaves at noon');
  await say('A train at noon', 'agent:main:trips');
  const found = async (words: string): Promise<string[]> => {
    const { status, body } = await call('GET', `/v1/search?q=${encodeURIComponent(words)}`);
    expect([status, body.since, body.complete]).toEqual([200, 0, true]);
    return body.messages.map(({ shownKey, role }: { shownKey: string; role: string }) => `${role} ${shownKey}`).sort();
  };
  expect(await found('ferry noon')).toEqual(['assistant main', 'user main']);
  expect(await found('noon train')).toEqual(['assistant trips', 'user trips']);
  expect(await found('fer')).toEqual(['assistant main', 'user main']);
  expect(await found('submarine')).toEqual([]);
  await say('The submarine is late');
  expect(await found('submarine')).toEqual(['assistant main', 'user main']);
  await call('DELETE', pathOf('agent:main:trips'));
  expect(await found('train')).toEqual([]);
  const long = await say(`${'x '.repeat(500)} needle ${'y '.repeat(500)}`);
  expect(long.status).toBe(200);
  const { body } = await call('GET', '/v1/search?q=needle&limit=1');
  expect(body.messages).toHaveLength(1);
  expect(body.messages[0].excerpt).toMatch(/^….* needle .*…$/);
  expect((await call('GET', '/v1/search?q=')).body).toMatchObject({ code: 'invalid', field: 'q' });
});

test('sessions are pinned, labelled and put aside (B24)', async () => {
  const { call } = await startWorld();
  for (const to of [key, 'agent:main:trips']) await call('POST', `${pathOf(to, '/messages')}?wait=30`, { body: { text: 'hi' } });
  const listed = async (query: string): Promise<string[]> =>
    (await call('GET', `/v1/sessions?${query}`)).body.sessions.map(({ shownKey }: { shownKey: string }) => shownKey);
  const patched = await call('PATCH', pathOf(key), { body: { pinned: true, labels: ['travel', 'home'] } });
  expect(patched.body.settings).toEqual({ pinned: true, labels: ['travel', 'home'] });
  expect((await call('PATCH', pathOf(key), { body: { labels: ['travel', 'home'] } })).body.outcome).toBe('nothing');
  expect((await call('PATCH', pathOf(key), { body: { icon: '🌱' } })).body.settings).toMatchObject({ icon: '🌱' });
  const refused = await call('PATCH', pathOf(key), { body: { icon: 'seed' } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid', field: 'icon' } });
  expect(refused.body.detail).toContain('use one emoji, such as "🌱"');
  await vi.waitFor(async () => expect(await listed('pinned=1')).toEqual(['main']));
  expect(await listed('pinned=0')).toEqual(['trips']);
  expect(await listed('label=travel')).toEqual(['main']);
  expect(await listed('label=trav')).toEqual([]);
  expect(await listed('key=agent:main:trips')).toEqual(['trips']);
  await call('POST', pathOf(key, '/deactivate'), { body: {} });
  await vi.waitFor(async () => expect(await listed('')).toEqual(['trips']));
  await call('PATCH', pathOf(key), { body: { pinned: null, labels: null, icon: null } });
  expect((await call('GET', pathOf(key))).body.settings).toEqual({});
  expect(await listed('pinned=1&status=all')).toEqual([]);
  await call('POST', `${pathOf(key, '/messages')}?wait=30`, { body: { text: 'again' } });
  await vi.waitFor(async () => expect(await listed('status=idle')).toEqual(['main', 'trips']));
});
