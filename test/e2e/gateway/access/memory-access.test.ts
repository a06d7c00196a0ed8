import { expect, test, vi } from 'vitest';
import { keyOf } from '../../../support/domain/commits.ts';
import { memoryOf } from '../../../support/memories.ts';
import { type GatewayRig, openGateway } from './access-rig.ts';

/** Who sees what of the memory at the gateway while the memory itself is late: nobody writes it here but the test. */

const group = keyOf('agent:main:telegram:group:g');

test('C9, I12: what was remembered of a session that was deleted nobody finds who takes part in the next, however late the memory is', async () => {
  const { as, said, done, hostPorts } = await openGateway();
  await said(group, ['telegram:1']);
  const { seq = 0 } = (await hostPorts.events.last(group)) ?? {};
  const place = { key: group, seq };
  const { source } = memoryOf(seq, '');
  const old = memoryOf(seq, 'a secret of then', { scope: `session:${group}`, source: { ...source, ...place }, changes: [place] });
  await hostPorts.memory.position();
  await hostPorts.memory.put({ entries: [old], gone: [] }, seq);
  const seen = async (name: 'ann' | 'bob' | 'owner', query = '') =>
    (await as[name]('GET', `/v1/memory${query}`)).body.memories.map(({ text }: { text: string }) => text);
  await vi.waitFor(async () => expect(await seen('ann')).toEqual([old.text]));
  expect(await seen('ann', '?scope=session:telegram:group:g')).toEqual([old.text]);

  await done(group, { type: 'delete_session', mode: 'key', reason: 'test' });
  await said(group, ['telegram:2']);
  await vi.waitFor(async () => expect((await as.bob('GET', '/v1/sessions')).body.sessions).toHaveLength(1));
  expect(await seen('bob')).toEqual([]);
  expect(await seen('bob', '?query=secret')).toEqual([]);
  expect(await seen('bob', `?scope=session:${group}`)).toEqual([]);
  expect(await seen('ann')).toEqual([]);
  expect(await seen('owner')).toEqual([old.text]);
});

test('A8/89: a scope that is none is told so, whoever asks', async () => {
  const { as } = await openGateway();
  for (const scope of [
    'agent:a b',
    'agent:*',
    'person:>:ann',
    'person:main:',
    'people:main:ann',
    `person:main:${'x'.repeat(513)}`,
  ]) {
    const added = await as.owner('POST', '/v1/memory', { body: { text: 'x', scope } });
    expect([scope, added.status, added.body.field]).toEqual([scope, 400, 'scope']);
  }
});

test('A7/82: why something is believed is told to the very message', async () => {
  const { as, said, done, hostPorts } = await openGateway();
  await said(group, ['telegram:1']);
  const change = { op: 'add' as const, scope: { kind: 'session' as const }, text: 'tea at five', from: [1] };
  const by = { id: 'test', role: 'owner' } as const;
  await done(group, { type: 'change_memory', memory: { changes: [change], reach: [{ kind: 'session' }] }, by });
  const { seq = 0 } = (await hostPorts.events.last(group)) ?? {};
  const place = { key: group, seq };
  await hostPorts.memory.position();
  const { source } = memoryOf(seq, '');
  const entry = memoryOf(seq, change.text, { scope: `session:${group}`, source: { ...source, ...place }, changes: [place] });
  await hostPorts.memory.put({ entries: [entry], gone: [] }, seq);
  await vi.waitFor(async () => {
    const { body } = await as.ann('GET', `/v1/memory/${entry.id}`);
    expect(body.history).toMatchObject([{ op: 'add', text: 'tea at five', key: group, seq, from: [1] }]);
  });
});

const main = keyOf('agent:main:main');
/** What is remembered of Ann from her message, and would be of what comes after it: nobody writes it here. */
const remembered = async ({ said, hostPorts }: Pick<GatewayRig, 'said' | 'hostPorts'>, ...texts: string[]) => {
  await said(main, ['telegram:1']);
  const { seq = 0 } = (await hostPorts.events.last(main)) ?? {};
  const place = { key: main, seq };
  const source = { ...memoryOf(seq, '').source, ...place };
  const theirs = { scope: 'person:main:telegram:1', source, changes: [place] };
  const entries = texts.map((text, index) => memoryOf(seq, text, { ...theirs, id: `${seq}-${index}` }));
  await hostPorts.memory.position();
  await hostPorts.memory.put({ entries, gone: [] }, seq + 100);
  return entries;
};

test('I12: why a person has something of theirs forgotten is not told where others have come since', async () => {
  const { as, said, hostPorts } = await openGateway();
  const [entry] = await remembered({ said, hostPorts }, 'Ann was ill');
  await said(main, ['telegram:2']);
  await vi.waitFor(async () => expect((await as.ann('GET', `/v1/memory/${entry?.id}`)).status).toBe(200));
  const forgotten = await as.ann('DELETE', `/v1/memory/${entry?.id}?reason=the+doctor+says+so`);
  expect(forgotten.status).toBe(200);
  const commits = await as.bob('GET', `/v1/sessions/${encodeURIComponent(main)}/commits?after=0`);
  expect([commits.status, commits.text.includes('words of telegram:2'), commits.text.includes('doctor')]).toEqual([
    200,
    true,
    false,
  ]);
  expect((await hostPorts.events.last(keyOf('agent:main:memory')))?.events).toMatchObject([
    { type: 'memory_changed', changes: [{ op: 'forget', id: entry?.id }], reach: [{ kind: 'person', principal: 'telegram:1' }] },
  ]);
});

test('I2: to forget another memory is no repeat, whatever key a client sends with it', async () => {
  const { as, said, hostPorts } = await openGateway();
  const [first, second] = await remembered({ said, hostPorts }, 'note one', 'note two');
  const headers = { 'idempotency-key': 'one' };
  const forget = async (entry = first) => (await as.ann('DELETE', `/v1/memory/${entry?.id}?reason=old`, { headers })).body;
  await vi.waitFor(async () => expect((await as.ann('GET', `/v1/memory/${second?.id}`)).status).toBe(200));
  const outcomes = [await forget(), await forget(), await forget(second)].map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['accepted', 'duplicate', 'accepted']);
});

test('I11: what is too long or broken is refused with its field, and a query is words, whatever stands in it', async () => {
  const { as } = await openGateway();
  const add = async (text: string) => as.owner('POST', '/v1/memory', { body: { text, scope: 'agent' } });
  for (const text of ['', ' \n', 'x'.repeat(4_001), 'a \ud800 b']) {
    const { status, body } = await add(text);
    expect([text.slice(0, 9), status, body.field]).toEqual([text.slice(0, 9), 400, 'text']);
  }
  const { status, body } = await as.owner('GET', `/v1/memory?query=${'x'.repeat(10_000)}`);
  expect([status, body.field]).toEqual([400, 'query']);
  for (const query of ['"', '%00', '*', 'a%22%20OR%20%22b', 'NEAR(a)', '%F0%9F%98%80'])
    expect((await as.owner('GET', `/v1/memory?query=${query}`)).body).toEqual({ memories: [], nextCursor: null });
});
