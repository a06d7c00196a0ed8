import { Packr } from 'msgpackr';
import { expect, test } from 'vitest';
import type { SessionHost } from '../../../../services/session/host/host.ts';
import { OfflineModel } from '../../../../shared/adapters/model/offline.ts';
import { nothingHappensTwice } from '../../../sim/checkers/i2-once.ts';
import { revisionsAreContiguous } from '../../../sim/checkers/i3-contiguous.ts';
import type { History } from '../../../sim/history.ts';
import { commitTo } from '../../../support/domain/commits.ts';
import { homeKey, keyOf, post, type RigOptions, rig } from '../rig.ts';

/** Two hosts on one broker. */
const twoHosts = (options: RigOptions = {}) => {
  const made = rig(options);
  const first = made.host;
  made.restart();
  return { made, first, second: made.host };
};

/** Both believe that they own everything: each gets every command at the same moment, until it is through with it. */
const shareOneLease = async (fencing: boolean): Promise<string[]> => {
  const { made, first, second } = twoHosts({ model: (clock) => new OfflineModel(clock), safetyToggles: { fencing } });
  const keys = ['one', 'two', 'three'].map(keyOf);
  const take = async (host: SessionHost, seq: number): Promise<void> => {
    const key = keys[seq % keys.length] ?? homeKey;
    for (let attempt = 1; ; attempt++) {
      const delivery = { message: post(`hello ${seq}`, `message-${seq}`, key), seq, incarnation: 1, partition: 0, attempt };
      if ((await host.handle(delivery)).kind === 'recorded') return;
    }
  };
  const all = [first, second].map(async (host) => {
    for (let seq = 1; seq <= 30; seq++) await take(host, seq);
  });
  await made.clock.pass(60_000);
  await Promise.all(all);
  const commits = made.system.events.stored();
  const messages = commits.flatMap(({ events }) => events.filter(({ type }) => type === 'user_message'));
  const history = { commits, damages: [] } as Partial<History> as History;
  return [
    ...(messages.length === 30 ? [] : [`${messages.length} messages of 30`]),
    ...revisionsAreContiguous(history),
    ...nothingHappensTwice(history),
  ];
};

test('two hosts that believe in the same lease: each command takes effect once, in one line of commits (F3)', async () => {
  expect(await shareOneLease(true)).toEqual([]);
});

test('without the fence that is noticed', async () => {
  expect(await shareOneLease(false)).not.toEqual([]);
});

test.each([
  ['an event', { type: 'thought_recorded', v: 1 }],
  ['a version of an event', { type: 'session_deactivated', v: 2, because: { kind: 'idle' } }],
])('%s that only a newer host knows stops its session on a host that runs, and no other one (F6)', async (_, event) => {
  const { made, first } = twoHosts();
  const [newer, other] = [keyOf('newer'), keyOf('other')];
  const take = async (id: string, key: typeof newer) => {
    const verdict = await first.handle({
      ...{ message: post('hello', id, key), seq: made.system.events.stored().length + 1 },
      ...{ incarnation: 1, partition: 0, attempt: 1 },
    });
    await made.clock.pass(1_000);
    return verdict;
  };
  await take('a', newer);
  await take('b', other);
  const last = await made.ports.events.last(newer);
  const commit = { ...commitTo(newer, { v: 2, rev: last!.rev + 1, prev: last!.digest }), events: [event] };
  const seq = made.system.events.storeRaw('session_deactivated', newer, new Packr({ useRecords: false }).pack(commit));

  expect(await take('c', newer), 'it holds the session as it was').toMatchObject({
    kind: 'dead',
    reason: expect.stringContaining('version'),
  });
  expect(await take('d', other)).toEqual({ kind: 'recorded' });
  expect(made.system.events.stored(seq).every(({ key }) => key === other)).toBe(true);
});
