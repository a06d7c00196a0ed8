import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acceptLoss, findLoss, type LogLoss, unseenMargin } from '../../../services/cli/runtime/log-loss.ts';
import { withLog } from '../../../services/cli/runtime/with-log.ts';
import { loadState } from '../../../services/session/host/load.ts';
import { createWritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { giveUpPlaces } from '../../../shared/adapters/nats/give-up.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import { toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { commitTo, freshKey, seenAt } from '../../support/domain/commits.ts';
import { type Stoppable, startStoppable } from '../../support/stopped-store.ts';
import { eventStoreOf } from '../../support/streams/event-store.ts';

/** `natter log accept`: what was given out for lost commits, and what stands ahead of the log (I13). */
const config = loadConfig({ env: {}, home: '/nowhere' });
const [kept, lost] = [freshKey('agent:main:kept'), freshKey('agent:main:lost')];
let broker: Stoppable;
beforeEach(async () => {
  broker = await startStoppable(config);
});
afterEach(() => broker.server.stop());

const append = async ({ events }: Ports, key: typeof kept, rev: number, expectedSeq = 0): Promise<number> => {
  const result = await events.append(commitTo(key, { rev }), expectedSeq);
  if (result.kind !== 'stored') throw new Error(JSON.stringify(result));
  return result.seq;
};
/** A log of one commit whose second and third are lost; `ran` is of a process that has seen all three and still runs. */
const lostItsEnd = async () => {
  const store = eventStoreOf(broker.server);
  const ports = await broker.open();
  await append(ports, kept, 1);
  await broker.server.kill9();
  await store.copyAs('older');
  await broker.server.restart();
  await vi.waitFor(() => expect(ports.problems()).toEqual([]));
  await append(ports, kept, 2, 1);
  await append(ports, lost, 1);
  const commits = await Promise.all([kept, lost].map((key) => ports.events.last(key)));
  const rows = commits.map((commit) => summarize(null, commit!));
  await ports.index.put(rows, 3);
  await ports.memory.put({ entries: [], gone: [] }, 3);
  const lostState = toPlain(await loadState(ports, kept));
  await ports.snapshots.put(kept, lostState);
  const { incarnation, digest } = await ports.events.view(3);
  await ports.cursors.put('delivery', { incarnation, seq: 3, digest });
  const witness = createWritersWitness(await broker.witnesses());
  await vi.waitFor(async () => expect(await witness.read()).toMatchObject({ seq: 3 }));
  // Not killed: the caches, which may lose their last writes, have seen the lost commits too.
  await broker.server.restart({ meanwhile: () => store.putBack('older') });
  await vi.waitFor(() => expect(ports.problems().join()).toMatch(/had reached 3/));
  return { ran: ports, lostState, lostCommit: commits[1]! };
};
const address = () => ({ servers: broker.server.url });
const found = (): Promise<LogLoss | null> => withLog(config, address(), findLoss);
const accepted = async (): Promise<number> =>
  withLog(config, address(), async (resources) => {
    const loss = await findLoss(resources);
    if (loss === null) throw new Error('there is no loss');
    return acceptLoss(resources, loss, { actor: 'operator:olga', reason: 'no copy is left' });
  });

test('it is shown what is lost and who has seen it', async () => {
  await lostItsEnd();
  const loss = await found();
  expect(loss).toMatchObject({ lastSeq: 1, keptThrough: 1, reached: 3 });
  expect(loss?.sessions.toSorted()).toEqual([kept, lost]);
  expect(loss?.problems.map((problem) => problem.split(':')[0]).toSorted()).toEqual(
    ['the index', 'the memory', 'the reader delivery', 'the session hosts'].toSorted(),
  );
});

test('one that was interrupted is done again: until then the log counts as gone back', async () => {
  await lostItsEnd();
  const { lost: subject } = subjectsUnder(config.prefix);
  await withLog(config, address(), async ({ connection, cursors }) => {
    await giveUpPlaces(connection, { subject, after: 1, through: 4, timeoutMs: 1_000 });
    await cursors.put('delivery', seenAt(1));
  });
  const ports = await broker.open();
  await vi.waitFor(() => expect(ports.problems().join()).toMatch(/exchanged/));
  expect(await found()).toMatchObject({ reached: 3 });
  await accepted();
  await vi.waitFor(() => expect(ports.problems()).toEqual([]));
});

test('after it no sequence is used again, nothing is ahead of the log, and what ran before must be restarted', async () => {
  const { ran, lostState, lostCommit } = await lostItsEnd();
  await expect(loadState(ran, kept), 'its snapshot is ahead of a log that nobody trusts').rejects.toMatchObject({
    code: 'unavailable',
  });
  const end = await accepted();
  expect(end).toBeGreaterThanOrEqual(3 + unseenMargin);
  expect(await found()).toBeNull();

  const ports = await broker.open();
  expect(ports.problems()).toEqual([]);
  const { incarnation, digest } = await ports.events.view(1);
  expect(await ports.cursors.get('delivery')).toEqual({ incarnation, seq: 1, digest });
  expect([await ports.index.position(), await ports.memory.position()]).toEqual([1, 0]);
  expect(await ports.index.get(kept)).toMatchObject({ seq: 1, rev: 1 });
  expect(await ports.index.get(lost)).toBeNull();
  expect(await loadState(ports, kept), 'its snapshot was of a lost commit').toMatchObject({ position: { seq: 1, rev: 1 } });
  expect(await ran.snapshots.get(kept)).toBeNull();
  expect(await append(ports, kept, 2, 1)).toBe(end + 1);
  expect(await ports.events.page({ after: 0, limit: 10 })).toMatchObject({ commits: [{ seq: 1 }], more: true });
  expect(await ports.events.page({ after: 1, limit: 10 })).toMatchObject({ commits: [{ seq: end + 1 }], more: false });
  expect((await ports.events.raw({ after: 1, limit: 10 })).messages.map(({ seq }) => seq)).toEqual([end + 1]);
  expect((await ports.audit.page({ limit: 10 })).records).toMatchObject([
    { kind: 'log_loss_accepted', actor: 'operator:olga', detail: expect.stringMatching(/had reached 3;.*no copy is left/) },
  ]);

  await vi.waitFor(() => expect(ran.problems().join()).toMatch(/restart it/));
  expect(ran.problems()[0]?.fix).toMatch(/^restart this process/);
  const refused = { code: 'unavailable' };
  await expect(ran.snapshots.put(kept, lostState), 'it stops after the decision, with what it held').rejects.toMatchObject(
    refused,
  );
  await expect(ran.index.put([summarize(null, lostCommit)], 3)).rejects.toMatchObject(refused);
  await expect(ran.cursors.put('delivery', { incarnation, seq: 3, digest: null })).rejects.toMatchObject(refused);
  expect(await ran.events.append(commitTo(freshKey()), 0)).toMatchObject({ kind: 'unknown' });
});
