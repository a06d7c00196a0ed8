import { expect, test, vi } from 'vitest';
import { startReplicas } from '../access/token-rig.ts';
import { type Call, callerOf, pathOf } from '../setup.ts';

/** Which sessions have something that a person has not seen (B24). */

const [one, other] = ['agent:main:main', 'agent:main:other'];
const slowly = { timeout: 30_000 };
const say = async (call: Call, key: string, text: string): Promise<void> => {
  expect((await call('POST', `${pathOf(key, '/messages')}?wait=30`, { body: { text } })).status).toBe(200);
};
const unread = async (call: Call, query = 'unread=1'): Promise<string[]> => {
  const { status, body, text } = await call('GET', `/v1/sessions?${query}`);
  expect(status, text).toBe(200);
  return body.sessions.map(({ key }: { key: string }) => key).sort();
};
const read = (call: Call, key: string, body: object = {}) => call('POST', pathOf(key, '/read'), { body });

test('a session is unread until its person has read it, and again with the next message, in each browser of theirs', async () => {
  const replicas = await startReplicas();
  const { admin, urls } = replicas;
  for (const key of [one, other]) await say(admin, key, 'hello');
  const pageAt = async (at: 0 | 1): Promise<Call> => {
    const { code } = (await admin('POST', '/v1/page/codes', { body: {} })).body;
    const headers = { origin: urls[at] };
    const { token } = (await callerOf(urls[at], null)('POST', '/v1/page/login', { body: { code }, headers })).body;
    return replicas.as(token, at);
  };
  const [here, there] = [await pageAt(0), await pageAt(1)];
  const { token } = await replicas.make({ role: 'read-only', label: 'somebody else' });
  const reader = replicas.as(token);
  expect(await unread(here)).toEqual([one, other]);
  expect((await read(here, one)).body).toEqual({ key: one, unread: false });
  expect([await unread(here), await unread(here, 'unread=0')]).toEqual([[other], [one]]);
  await vi.waitFor(async () => expect(await unread(there)).toEqual([other]), slowly);
  expect(await unread(reader)).toEqual([one, other]);
  expect((await here('GET', pathOf(one))).body.unread).toBe(false);
  // What is no message is nothing to read.
  await here('PATCH', pathOf(one), { body: { pinned: true } });
  await vi.waitFor(async () => expect((await here('GET', '/v1/sessions?pinned=1')).body.sessions).toHaveLength(1), slowly);
  expect(await unread(here)).toEqual([other]);
  await say(admin, one, 'more');
  await vi.waitFor(async () => expect(await unread(here)).toEqual([one, other]), slowly);
  for (const key of [one, other]) expect((await read(reader, key)).status).toBe(200);
  expect([await unread(reader), await unread(here)]).toEqual([[], [one, other]]);
});

test('a session can be marked unread, and one that its caller may not see cannot be marked', async () => {
  const replicas = await startReplicas();
  const { admin } = replicas;
  await say(admin, one, 'hello');
  await read(admin, one);
  expect(await unread(admin)).toEqual([]);
  expect((await read(admin, one, { unread: true })).body).toEqual({ key: one, unread: true });
  expect(await unread(admin)).toEqual([one]);
  const { token } = await replicas.make({ role: 'participant', principal: 'telegram:1' });
  expect((await read(replicas.as(token), one)).status).toBe(404);
  expect((await read(admin, 'agent:main:none')).status).toBe(404);
  expect((await read(admin, one, { seq: 5 })).status).toBe(400);
});
