import { describe, expect, test, vi } from 'vitest';
import { loadState } from '../../../../services/session/host/load.ts';
import { InMemoryEventLog } from '../../../../shared/adapters/in-memory/event-log.ts';
import type { PlainState } from '../../../../shared/domain/session/fold/evolve.ts';
import { initialState, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { encodeCommit } from '../../../../shared/wire/codec.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { commitTo, turnStarted, unrecorded } from '../../../support/domain/commits.ts';
import { homeKey, keyOf, rig } from '../rig.ts';

const told = async () => {
  const made = rig();
  for (const row of ['post a', 'append b', 'post c', 'reset s2', 'post d']) await made.take(row);
  return made;
};
const load = async ({ ports }: Awaited<ReturnType<typeof told>>): Promise<PlainState> => toPlain(await loadState(ports, homeKey));

describe('loading a session', () => {
  test('gives the fold of its log, with or without a snapshot (I4)', async () => {
    const made = await told();
    const whole = await load(made);
    expect(whole.position.rev).toBe(5);
    await made.ports.snapshots.put(homeKey, whole);
    await made.take('append e');
    const later = await load(made);
    expect(later.position.rev).toBe(6);
    await made.system.buckets.snapshots.put('nothing', null);
    made.system.buckets.snapshots.recreate();
    expect(await load(made)).toEqual(later);
  });

  test('reads nothing of one without commits: the leader has none', async () => {
    const { ports } = rig();
    const read = vi.spyOn(ports.events, 'read');
    expect(toPlain(await loadState(ports, homeKey))).toEqual(toPlain(initialState));
    expect(read).not.toHaveBeenCalled();
  });

  test.each([
    ['lies about its rev', (state: PlainState): PlainState => ({ ...state, position: { ...state.position, seq: 2 } })],
    [
      'stands on another history',
      (state: PlainState): PlainState => ({ ...state, position: { ...state.position, digest: 'x' } }),
    ],
  ])('replays everything when the snapshot %s', async (_, forge) => {
    const made = await told();
    const whole = await load(made);
    await made.ports.snapshots.put(homeKey, forge(whole));
    expect(await load(made)).toEqual(whole);
  });

  test('a snapshot of a session that had no commits yet says nothing: the log is read', async () => {
    const made = await told();
    const whole = await load(made);
    await made.system.buckets.snapshots.put('nothing', null);
    made.system.buckets.snapshots.recreate();
    await made.ports.snapshots.put(homeKey, toPlain(initialState));
    expect(await load(made)).toEqual(whole);
  });

  test('a snapshot that the last host wrote after the end of the log was read is no damage', async () => {
    const made = await told();
    const before = await made.ports.events.last(homeKey);
    await made.take('append e');
    const whole = await load(made);
    await made.ports.snapshots.put(homeKey, whole);
    let asked = 0;
    const events = { ...made.ports.events, last: async () => (asked++ === 0 ? before : made.ports.events.last(homeKey)) };
    const { append, count, read, page, raw, follow, info, view } = made.ports.events;
    const log = made.ports.events;
    Object.assign(
      events,
      Object.fromEntries(
        Object.entries({ append, count, read, page, raw, follow, info, view }).map(([name, call]) => [name, call.bind(log)]),
      ),
    );
    expect(toPlain(await loadState({ ...made.ports, events }, homeKey))).toEqual(whole);
  });

  test('waits for a replica that is behind: the state is the leader’s (R3)', async () => {
    const clock = new VirtualClock(1_790_000_000_000);
    let reads = 0;
    const faults = {
      next: (call: string) => ({
        fault: call === 'read' && ++reads < 4 ? ('stale' as const) : ('none' as const),
        delayMs: 0,
        lateMs: 0,
        behind: 2,
      }),
    };
    const events = new InMemoryEventLog({ clock, semantics: 'R3', faults });
    const { ports, system } = await told();
    for (const commit of system.events.stored()) events.storeRaw('user_message', homeKey, encodeCommit(unrecorded(commit)));
    const loading = loadState({ ...ports, events, clock }, homeKey);
    await clock.pass(1_000);
    expect((await loading).position.rev).toBe(5);
    expect(reads).toBe(4);
  });

  test('gives up when no replica catches up: unavailable, not a state of the past', async () => {
    const clock = new VirtualClock(1_790_000_000_000);
    const faults = { next: () => ({ fault: 'stale' as const, delayMs: 0, lateMs: 0, behind: 2 }) };
    const events = new InMemoryEventLog({ clock, semantics: 'R3', faults });
    const { ports, system } = await told();
    for (const commit of system.events.stored()) events.storeRaw('user_message', homeKey, encodeCommit(unrecorded(commit)));
    const loading = expect(loadState({ ...ports, events, clock }, homeKey)).rejects.toMatchObject({ code: 'unavailable' });
    await clock.pass(10_000);
    await loading;
  });
});

describe('a session whose history cannot be folded', () => {
  const broken = keyOf('broken');

  test.each([
    ['an event without a transition', () => encodeCommit(commitTo(broken, { events: [turnStarted()] }))],
    ['a gap', () => encodeCommit(commitTo(broken, { rev: 7 }))],
    ['bytes that are no commit', () => Buffer.from('hello')],
  ])('is quarantined alone, its sender told: %s', async (_, bytes) => {
    const made = rig();
    made.system.events.storeRaw('user_message', broken, bytes());
    expect(await made.take('post a', broken)).toMatchObject({ kind: 'dead', reason: expect.stringContaining(broken) });
    expect(await made.take('post b', broken)).toMatchObject({ kind: 'dead' });
    expect(await made.take('post c')).toEqual({ kind: 'recorded' });
    expect(made.events()).not.toEqual([]);
  });
});
