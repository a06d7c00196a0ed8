import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { startMiniHost } from '../../../support/mini-host.ts';
import { movableClock, startReplicas } from '../access/token-rig.ts';
import { afterwards, type Call, callerOf, openBroker, openGateway, pathOf, ready } from '../setup.ts';

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

test('a message is news for 30 days: what is older is unread for nobody, also if its session changes', async () => {
  const clock = movableClock();
  const { admin } = await startReplicas({}, clock);
  await say(admin, one, 'hello');
  clock.advance(limits.unreadMs - 60_000);
  expect(await unread(admin)).toEqual([one]);
  clock.advance(60_000);
  expect(await unread(admin)).toEqual([]);
  await admin('PATCH', pathOf(one), { body: { pinned: true } });
  await say(admin, other, 'hello');
  await vi.waitFor(async () => expect(await unread(admin)).toEqual([other]), slowly);
  expect((await admin('GET', '/v1/sessions?pinned=1')).body.sessions).toMatchObject([{ key: one, unread: false }]);
  expect((await read(admin, one, { unread: true })).body).toEqual({ key: one, unread: false });
});

test('while nobody can load what was read, sessions are listed and none is unread, and each list does not try it again', async () => {
  let [ahead, tries, isAway] = [0, 0, true];
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  const memory = openBroker(clock);
  const host = await startMiniHost(memory.portsFor('host'), {});
  afterwards(() => host.close());
  const ports = memory.portsFor('gateway');
  const watch: typeof ports.readMarks.watch = async () => {
    tries += 1;
    if (isAway) throw new NatterError('unavailable', 'the marks are away');
    return ports.readMarks.watch();
  };
  const call = callerOf((await openGateway({ ...ports, readMarks: { ...ports.readMarks, watch } })).url);
  await ready(call);
  await say(call, one, 'hello');
  const listed = async () => (await call('GET', '/v1/sessions')).body.sessions;
  await vi.waitFor(async () => expect(await listed()).toMatchObject([{ key: one, unread: false }]), slowly);
  expect([await unread(call), await unread(call, 'unread=0')]).toEqual([[], [one]]);
  expect((await call('GET', pathOf(one))).body.unread).toBe(false);
  expect((await read(call, one)).status).toBe(503);
  expect(tries).toBe(1);
  isAway = false;
  ahead = 10_000;
  expect(await listed()).toMatchObject([{ key: one, unread: true }]);
});
