import { expect, test, vi } from 'vitest';
import { command } from '../../../support/domain/given.ts';
import { keyOf, rig } from '../rig.ts';

const key = keyOf('one');

test('ADR 9: what its history shows to be done is recorded, and stays so for any later delivery of it', async () => {
  const { host, take } = rig();
  const deliver = (id: string, seq: number) =>
    host.handle({ message: { ...command(`post ${id}`, id), key }, seq, incarnation: 1, partition: 0, attempt: 1 });
  expect(await deliver('a', 101)).toEqual({ kind: 'recorded' });
  expect(await deliver('b', 102)).toEqual({ kind: 'recorded' });
  for (const seq of [101, 102]) expect(await deliver(seq === 101 ? 'a' : 'b', seq)).toEqual({ kind: 'recorded' });
  expect(host.counts).toMatchObject({ commits: 2, duplicates: 2 });
  expect(await take('append x', key)).toEqual({ kind: 'recorded' });
});

test('ADR 9: what changes nothing, is refused, or is known by its id only, is done: in another state it might take effect', async () => {
  const { host, take } = rig();
  const deliver = (row: string, id: string, seq: number) =>
    host.handle({ message: { ...command(row, id), key }, seq, incarnation: 1, partition: 0, attempt: 1 });
  expect(await take('stop', key)).toEqual({ kind: 'done' });
  expect(await deliver('post m', 'm', 101)).toEqual({ kind: 'recorded' });
  expect(await deliver('post m', 'm', 102)).toEqual({ kind: 'done' });
  expect(host.counts).toMatchObject({ commits: 1, duplicates: 1 });
});

test('I1: what changes nothing in the memory of a host is decided again where the log has gone on without it', async () => {
  const system = rig();
  await system.take('open', key);
  const behind = system.host;
  system.restart();
  expect(await system.take('deactivate', key)).toEqual({ kind: 'recorded' });
  const message = { ...command('open', 'open again'), key };
  expect(await behind.handle({ message, seq: 101, incarnation: 1, partition: 0, attempt: 1 })).toEqual({ kind: 'recorded' });
  expect(system.events(key).at(-1)?.type).toBe('session_reopened');
});

test('who follows the log is answered what the log does not show, and no more', async () => {
  const { host, ports } = rig();
  const told: string[] = [];
  for (const id of ['a', 'b']) ports.answers.hear(id, ({ outcome }) => told.push(`${id} ${outcome}`));
  const deliver = (id: string, seq: number, answers?: 'unrecorded') => {
    const answered = { answerTo: ports.answers.address, answers };
    const message = { ...command(`post ${id}`, id), key, ...answered };
    return host.handle({ message, seq, incarnation: 1, partition: 0, attempt: 1 });
  };
  await deliver('a', 101, 'unrecorded');
  await deliver('a', 102, 'unrecorded');
  await deliver('b', 103);
  await vi.waitFor(() => expect(told).toEqual(['a duplicate', 'b accepted']), { timeout: 10_000 });
});
