import { expect, test, vi } from 'vitest';
import { processSnapshotKey, SnapshotKey } from '../../../../shared/adapters/kv/snapshot-key.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../../shared/wire/snapshot.ts';
import { bucketKey } from '../../../../shared/wire/subjects.ts';
import { callerOf, openGateway, openStream, pathOf, ready, type Stream, startWorld, type World } from '../setup.ts';

/** F13: what the store has lost is said, not left out. */
const key = 'agent:main:main' as SessionKey;
const other = 'agent:main:cli:1' as SessionKey;

/** Five commits of one session and one of another; the given revs of the first are lost. A gateway that has not seen them reads. */
const worldWithout = async (...revs: number[]): Promise<World & { readonly seqs: readonly number[] }> => {
  const world = await startWorld();
  for (const text of ['one', 'two', 'three']) await world.call('POST', pathOf(key, '/messages?wait=5'), { body: { text } });
  await world.call('POST', pathOf(other, '/messages?wait=5'), { body: { text: 'beside' } });
  const seqs = world.memory.events.stored().flatMap((commit) => (commit.key === key ? [commit.seq] : []));
  for (const rev of revs) world.memory.events.kept.spoil(seqs[rev - 1] ?? 0);
  const gateway = await openGateway(world.memory.portsFor('late'));
  const call = callerOf(gateway.url);
  await ready(call);
  return { ...world, gateway, call, seqs };
};
const told = ({ messages }: Stream) => messages.map(({ event, data }) => [event, JSON.parse(data)] as const);

test.each([1, 2, 100])('pages of %d commits say where commits are missing, also between two pages', async (limit) => {
  const { call, seqs } = await worldWithout(3);
  const gaps: object[] = [];
  const revs: number[] = [];
  for (let after = '0'; ; ) {
    const { body } = await call('GET', pathOf(key, `/commits?limit=${limit}&after=${after}`));
    gaps.push(...body.gaps);
    revs.push(...body.commits.map(({ rev }: RecordedCommit) => rev));
    if (!body.more) break;
    after = body.next;
  }
  expect(revs).toEqual(seqs.map((_, at) => at + 1).filter((rev) => rev !== 3));
  expect(gaps).toEqual([{ reason: 'missing', fromRev: 3, toRev: 3, afterSeq: seqs[1], beforeSeq: seqs[3] }]);
});

test('the last page says that its end cannot be read; a whole session has no gaps', async () => {
  const { call, seqs } = await worldWithout(6);
  expect(seqs).toHaveLength(6);
  const { body } = await call('GET', pathOf(key, '/commits'));
  expect(body.commits).toHaveLength(5);
  expect(body.gaps).toEqual([{ reason: 'unreadable', fromRev: 6, toRev: null, afterSeq: seqs[4], beforeSeq: null }]);
  expect((await call('GET', pathOf(other, '/commits'))).body.gaps).toEqual([]);
  expect((await call('GET', pathOf(key, `/state?at=${seqs[3]}`))).body).toMatchObject({ position: { rev: 4 } });
  expect((await call('GET', pathOf(key, '/state'))).body).toMatchObject({ status: 409, code: 'damaged' });
});

test('a page of events of all sessions says it too, where the page shows it', async () => {
  const { call } = await worldWithout(2);
  const { body } = await call('GET', '/v1/events?limit=1000');
  expect(body.gaps).toMatchObject([{ key, reason: 'missing', fromRev: 2, toRev: 2 }]);
});

test('the state in a lost range is not known; before it and after a decision it is', async () => {
  const { call, seqs } = await worldWithout(3);
  expect((await call('GET', pathOf(key, `/state?at=${seqs[1]}`))).status).toBe(200);
  expect((await call('GET', pathOf(key, `/state?at=${seqs[3]}`))).body.code).toBe('damaged');
});

test('a stream of one session says it in front of what follows', async () => {
  const { gateway, seqs } = await worldWithout(3);
  const stream = await openStream(gateway.url, `${pathOf(key, '/events')}?after=0`);
  await vi.waitFor(() => expect(told(stream).filter(([event]) => event === 'damage')).toHaveLength(1));
  const found = told(stream);
  const at = found.findIndex(([event]) => event === 'damage');
  expect(found[at]?.[1]).toEqual({
    ...{ type: 'damage', key, reason: 'missing', fromRev: 3, toRev: 3, before: `${seqs[3]}.0` },
  });
  expect(found[at + 1]?.[1]).toMatchObject({ seq: seqs[3] });
});

test('F12: a snapshot that somebody else has signed is not served', async () => {
  const { call, memory, host } = await worldWithout();
  const state = toPlain(host.state(key));
  const forged = { ...state, context: { ...state.context, settings: { sendPolicy: 'allow' as const } } };
  const eve = SnapshotKey.from(SnapshotKey.newPem());
  const bytes = encodeSnapshot(key, forged, eve);
  expect(decodeSnapshot(key, bytes, eve)).toEqual(forged);
  await memory.buckets.snapshots.put(bucketKey(key), bytes);
  expect((await call('GET', pathOf(key, '/state'))).body).toMatchObject({ from: 'log', context: { settings: {} } });
  await memory.buckets.snapshots.put(
    bucketKey(key),
    encodeSnapshot(key, { ...forged, position: { ...state.position, digest: 'x' } }, processSnapshotKey()),
  );
  expect((await call('GET', pathOf(key, '/state'))).body).toMatchObject({ from: 'log', context: { settings: {} } });
  await memory.buckets.snapshots.put(bucketKey(key), encodeSnapshot(key, state, processSnapshotKey()));
  expect((await call('GET', pathOf(key, '/state'))).body).toMatchObject({ from: 'snapshot' });
});
