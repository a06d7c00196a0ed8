import { afterEach, describe, expect, test } from 'vitest';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import { type Reaction, type ScriptedPlatform, startScriptedPlatform } from '../../support/platform/scripted-platform.ts';
import { violationsOf } from '../../support/platform/verdict.ts';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
let platform: ScriptedPlatform;
afterEach(async () => {
  await rig.close();
  await platform.close();
});

const opened = async (react: Parameters<typeof startScriptedPlatform>[0], options?: { recognises: boolean }) => {
  platform = await startScriptedPlatform(react, options);
  rig = await openRig();
  const start = (member: string, webhook: object = {}) =>
    rig.start(member, { webhook: { url: platform.url, maxCharacters: 500, ...webhook } });
  return { ...rig, platform, start };
};
const textOf = (parts: number): string =>
  Array.from({ length: parts }, (_, part) => `Part **${part + 1}** ${'x'.repeat(400)}`).join('\n\n');
const isFinal = ({ state }: CustodyRecord): boolean => ['delivered', 'partial', 'unknown', 'failed'].includes(state);
const finals = (): Map<string, CustodyRecord> =>
  new Map(rig.records.filter(isFinal).map((record) => [record.outboundId, record] as const));
const stateOf = (id: string): string | undefined => finals().get(id)?.state;

describe('D12: a reply that is longer than the platform takes', () => {
  test('goes out in parts, each with its id and its receipt', async () => {
    const { say, start, until } = await opened(() => 'store');
    await start('one');
    const [short, id] = [await say('Hello!'), await say(textOf(3))];
    await until(() => expect([stateOf(short), stateOf(id)]).toEqual(['delivered', 'delivered']));
    expect(platform.stored.map(({ id: named, part }) => [named, part])).toEqual([
      [short, undefined],
      ...[1, 2, 3].map((index) => [`${id}.p${index}`, { index, count: 3 }]),
    ]);
    expect(platform.stored.slice(1).map(({ text }) => text)).toEqual(textOf(3).split('\n\n'));
    const { v, parts } = finals().get(id)!;
    expect([v, parts?.done]).toEqual([2, [1, 2, 3].map((index) => `m-${id}.p${index}`)]);
    expect(rig.records.filter(({ outboundId }) => outboundId === short).map(({ v: version }) => version)).toEqual([1, 1, 1]);
    expect(finals().get(short)?.messageId).toBe(`m-${short}`);
  });

  test('a part that is refused comes as plain text, then as a mark, and the rest follows', async () => {
    const { say, start, until, ports } = await opened(({ text }) =>
      /Part (\*\*)?2(\*\*)?( x|$)/.test(text) ? { status: 400 } : 'store',
    );
    await start('one');
    const [id, short] = [await say(textOf(3)), await say('Part **2**')];
    await until(() => expect([stateOf(id), stateOf(short)]).toEqual(['partial', 'failed']));
    expect(platform.requests.filter((request) => request.id === `${id}.p2`).map(({ plain }) => plain)).toEqual([
      undefined,
      true,
      undefined,
    ]);
    expect(platform.stored.map(({ text }) => text.slice(0, 12))).toEqual(['Part **1** x', '[Part 2 of 3', 'Part **3** x']);
    expect((await ports.deadLetters.list(10)).map((letter) => letter.id).sort()).toEqual([id, short].sort());
  });
});

/** Faults in a fixed but irregular order; each message succeeds before its attempts are over. */
const faults: readonly Reaction[] = [
  ...(['store_and_cut', 'store_late', 'store_and_500', 'store', 'cut', 'hang'] as const),
  ...[{ status: 429, retryAfterSeconds: 1 }, { status: 429, retryAfterSeconds: 70 }, { status: 503 }],
];

test.each([
  ['recognises ids', true, false],
  ['can be asked what it has', false, true],
  ['does neither', false, false],
])('40 replies over every fault of a platform that %s', async (_, recognises, answers) => {
  let requests = 0;
  const react = (_: unknown, nth: number): Reaction => {
    requests += 1;
    return nth > 4 ? 'store' : (faults[(requests * 7 + Math.floor(requests / 5)) % faults.length] as Reaction);
  };
  const { say, start, until, clock } = await opened(react, { recognises });
  await start('one', { idempotent: recognises, timeoutMs: 500, attempts: 50, ...(answers && { statusUrl: platform.url }) });
  const ids: string[] = [];
  for (let index = 0; index < 40; index++) ids.push(await say(textOf(1 + (index % 5)), `room-${index % 12}`));
  await until(() => {
    clock.skip(20_000);
    expect(finals().size).toBe(40);
  });
  expect(violationsOf({ outbounds: ids, stored: platform.stored, finals: finals(), canKnow: recognises || answers })).toEqual([]);
  expect([...finals().values()].some(({ state }) => state === 'unknown')).toBe(!recognises && !answers);
});

describe('a platform that lets nothing through', () => {
  test('D12: an hour that it asks to wait is waited, over a restart, while other conversations go on (I11)', async () => {
    const { say, start, until, clock } = await opened(({ text }, nth) =>
      text === 'first' && nth === 1 ? { status: 429, retryAfterSeconds: 3_600 } : 'store',
    );
    const first = await start('one');
    const [slow, behind] = [await say('first', 'slow'), await say('second', 'slow')];
    await until(() => expect(first.metrics()).toMatchObject({ waiting: 1, in_hand: 0 }));
    await first.stop(1_000);
    const second = await start('two');
    const other = await say('other', 'ann');
    await until(() => expect(stateOf(other)).toBe('delivered'));
    await until(() => expect(second.metrics()).toMatchObject({ waiting: 1, in_hand: 0 }));
    expect([stateOf(slow), stateOf(behind)]).toEqual([undefined, undefined]);
    clock.skip(3_600_000);
    await until(() => expect([stateOf(slow), stateOf(behind)]).toEqual(['delivered', 'delivered']));
    expect(platform.stored.map(({ text }) => text)).toEqual(['other', 'first', 'second']);
  });

  test('an account whose token was revoked is parked, loudly, and resumes by command or by itself', async () => {
    let isRevoked = true;
    const { say, start, until, clock, ports } = await opened(() => (isRevoked ? { status: 401 } : 'store'));
    const service = await start('one');
    const ids = [await say('a', 'ann'), await say('b', 'bob', { accountId: 'work' })];
    await until(() => expect(service.metrics()).toMatchObject({ parked_accounts: 2, waiting: 2, in_hand: 0 }));
    expect(service.warnings?.()).toEqual([
      expect.stringMatching(/^the account of channel chat is parked since .*: HTTP 401\. Its messages wait/),
      expect.stringMatching(/^the account work of channel chat is parked/),
    ]);
    const asked = platform.requests.length;
    ids.push(await say('c', 'ann'), await say('d', 'carl'));
    isRevoked = false;
    ports.resumeRequests.send({ channel: 'Chat ', accountId: 'work' });
    await until(() => expect(stateOf(ids[1]!)).toBe('delivered'));
    expect(platform.requests).toHaveLength(asked + 1);
    clock.skip(120_000);
    await until(() => expect(ids.map(stateOf)).toEqual(Array(4).fill('delivered')));
    expect(service.warnings?.()).toEqual([]);
  });

  test('who has blocked the agent loses their own messages, and holds up nobody else’s', async () => {
    const blocked = ['eve', 'mallory', 'trent'];
    const { say, start, until, clock } = await opened(({ to }) => (blocked.includes(to) ? { status: 403 } : 'store'));
    const service = await start('one');
    const [toEve, toBob] = [await say('a', 'eve'), await say('b', 'bob')];
    await until(() => expect(stateOf(toBob)).toBe('delivered'));
    clock.skip(60_000);
    await until(() => expect([stateOf(toEve), service.warnings?.()]).toEqual(['failed', []]));
    expect(finals().get(toEve)?.detail).toBe('HTTP 403, while the account works for others');

    // Two at once are taken for the account, until somebody else's message shows that it works.
    const ids = [await say('c', 'mallory'), await say('d', 'trent')];
    await until(() => expect(service.metrics()).toMatchObject({ parked_accounts: 1, in_hand: 0 }));
    ids.push(await say('e', 'eve'), await say('f', 'bob'), await say('g', 'ann'));
    clock.skip(120_000);
    await until(() => expect(ids.map(stateOf)).toEqual(['failed', 'failed', 'failed', 'delivered', 'delivered']));
    expect(service.warnings?.()).toEqual([]);
  });
});
