import { expect, test, vi } from 'vitest';
import { keyOf } from '../../support/commits.ts';
import { memoryOf } from '../../support/memories.ts';
import { startDoor } from './access-rig.ts';

/** Who sees what of the memory at the door while the memory itself is late: nobody writes it here but the test. */

const group = keyOf('agent:main:telegram:group:g');

test('C9, I12: what was remembered of a session that was deleted nobody finds who takes part in the next, however late the memory is', async () => {
  const { as, said, done, hostPorts } = await startDoor();
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
  const { as } = await startDoor();
  for (const scope of ['agent:a b', 'agent:*', 'agent:', 'person:>:ann', 'person::ann', `person:main:${'x'.repeat(513)}`]) {
    const added = await as.owner('POST', '/v1/memory', { body: { text: 'x', scope } });
    expect([scope, added.status, added.body.field]).toEqual([scope, 400, 'scope']);
  }
});
