import { describe, expect, test } from 'vitest';
import { repeatOf } from '../../../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { fold, initialState, type SessionState, toPlain, toShown } from '../../../../shared/domain/session/fold/evolve.ts';
import { askedBefore, withAskedCall } from '../../../../shared/domain/session/repeats/asked-calls.ts';
import {
  hasForgottenNone,
  type IdMemory,
  isRemembered,
  rememberedIds,
  withIds,
} from '../../../../shared/domain/session/repeats/id-memory.ts';
import { type OrderWindow, standingOf, withOrder } from '../../../../shared/domain/session/repeats/order-windows.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { command, commitOf, stateAfter } from '../../../support/domain/given.ts';
import { routed } from '../routing/support.ts';

const names = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => `id ${from + index}`);
const { olderIds: most, olderIdsEach: each } = limits;

describe('the memory of older ids (D9)', () => {
  test.each([0, 1, each - 1, each, each + 1, 2 * each, most - 1, most])('of %i ids it knows each, and no other', (count) => {
    const memory = withIds([], names(0, count));
    expect(names(0, count).filter((id) => !isRemembered(memory, id))).toEqual([]);
    expect(names(count, count + 500).filter((id) => isRemembered(memory, id))).toEqual([]);
    expect([rememberedIds(memory), hasForgottenNone(memory)]).toEqual([count, true]);
  });

  test(`it keeps the last ${most} at least, drops the oldest ${each} together, and stays bounded (I11)`, () => {
    const count = most + 3 * each + 7;
    const memory = withIds([], names(0, count));
    expect(names(count - most, count).filter((id) => !isRemembered(memory, id))).toEqual([]);
    expect(names(0, 3 * each).filter((id) => isRemembered(memory, id))).toEqual([]);
    expect(rememberedIds(memory)).toBeLessThanOrEqual(most + each);
    expect(hasForgottenNone(memory)).toBe(false);
  });

  test('a digest that is there by chance, between two others, is not taken for an id', () => {
    const known = withIds([], ['a']);
    const [digest = ''] = known;
    const shifted: IdMemory = [`x${digest}${digest}`.slice(0, 22)];
    expect([isRemembered(known, 'a'), isRemembered(shifted, 'a')]).toEqual([true, false]);
  });

  test('it takes 11 bytes an id, and is shown as a number', () => {
    const memory = withIds([], names(0, 2_000));
    expect(memory.join('')).toHaveLength(22_000);
    const state: SessionState = { ...initialState, position: { ...initialState.position, olderIds: memory } };
    expect(toShown(toPlain(state)).position.olderIds).toBe(2_000);
  });

  test('an id leaves the last ones for the older ones', () => {
    const state = stateAfter(...names(0, limits.recentIds + 5).map((id) => `append ${id.replace(' ', '-')}`));
    expect(state.position.recentIds).toHaveLength(limits.recentIds);
    expect(rememberedIds(state.position.olderIds)).toBe(5);
    expect(repeatOf(command('append id-0', 'another'), null, state)).toEqual({ by: 'id' });
    expect(
      repeatOf(command('append id-0', 'another'), null, { ...state, position: { ...state.position, olderIds: [] } }),
    ).toBeNull();
  });
});

describe('order numbers (D9)', () => {
  const source = 's';
  const with_ = (...numbers: string[]): readonly OrderWindow[] =>
    numbers.reduce<readonly OrderWindow[]>((windows, number) => withOrder(windows, { source, number }), []);
  const full = with_(...Array.from({ length: limits.orderWindow }, (_, index) => `${100 + 2 * index}`));

  test.each([
    ['the first', [], '0', 'new'],
    ['the same', ['5'], '5', 'known'],
    ['a higher', ['5'], '6', 'new'],
    ['a lower that was not seen', ['5', '7'], '6', 'new'],
    ['one with more digits', ['9'], '10', 'new'],
    ['20 digits, beyond 2^64', ['99999999999999999998'], '99999999999999999999', 'new'],
    ['one between, of a full window', null, '101', 'new'],
    ['one in a full window', null, '102', 'known'],
    ['one below a full window', null, '99', 'below'],
  ] as const)('%s', (_, seen, number, standing) => {
    expect(standingOf(seen === null ? full : with_(...seen), { source, number })).toBe(standing);
  });

  test('another source has numbers of its own', () => {
    expect(standingOf(full, { source: 'other', number: '102' })).toBe('new');
  });

  test('the window keeps the highest, in whatever order they come (I11)', () => {
    const numbers = Array.from({ length: 200 }, (_, index) => `${(index * 37) % 200}`);
    const [window] = with_(...numbers);
    expect(window?.numbers.split(' ').map(Number)).toEqual(
      Array.from({ length: limits.orderWindow }, (_, index) => 200 - limits.orderWindow + index),
    );
  });

  test('the source used longest ago is dropped first (I11)', () => {
    const sources = Array.from({ length: limits.orderSources }, (_, index) => `s${index}`);
    const all = [...sources, 's0', 'one more'].reduce<readonly OrderWindow[]>(
      (windows, name) => withOrder(windows, { source: name, number: '1' }),
      [],
    );
    expect(all).toHaveLength(limits.orderSources);
    expect(all.map((window) => window.source)).not.toContain('s1');
    expect(all.map((window) => window.source)).toContain('s0');
  });

  const numbered = (order: string | number, id = `${order}`): CommandEnvelope => routed({ id, order });
  const taken = (...commands: CommandEnvelope[]): SessionState =>
    commands.reduce((state, each_) => {
      const { data } = each_;
      if (data.type !== 'append_message') throw new Error(data.type);
      return fold(state, commitOf(state, each_, [{ type: 'user_message', v: 1, message: data.message }], 1));
    }, stateAfter('open'));

  test('a repeat under another id is recognised, however the number is written', () => {
    const state = taken(numbered('0042'));
    for (const order of ['42', 42]) expect(repeatOf(numbered(order, 'other'), null, state)).toEqual({ by: 'order' });
    expect(repeatOf(numbered(43, 'other'), null, state)).toBeNull();
  });

  test('a number below the window is new as long as no id was forgotten, then it is dropped', () => {
    const state = taken(...Array.from({ length: limits.orderWindow }, (_, index) => numbered(100 + index)));
    expect(repeatOf(numbered(7), null, state)).toBeNull();
    const olderIds = withIds([], names(0, most + 1));
    expect(repeatOf(numbered(7), null, { ...state, position: { ...state.position, olderIds } })).toEqual({ by: 'late' });
  });
});

describe('ids of routed messages (D9)', () => {
  const chat = (id: string, change = {}) => routed({ id: '42', conversation: { id, kind: 'group' }, ...change });

  test('the same id in two chats is two messages; unique in the account it is one', () => {
    const [one, other] = [chat('-1').id, chat('-2').id];
    expect(one).not.toBe(other);
    expect(chat('-1').id).toBe(one);
    const account = { idScope: 'account' };
    expect(chat('-1', account).id).toBe(chat('-2', account).id);
    expect(chat('-1', { ...account, accountId: 'b' }).id).not.toBe(chat('-1', account).id);
  });

  test('sessions that begin with the same id in two chats have two ids', () => {
    const sessionIdOf = ({ data }: CommandEnvelope) => 'sessionId' in data && data.sessionId;
    expect(sessionIdOf(chat('-1'))).not.toBe(sessionIdOf(chat('-2')));
  });

  test('what an older version recorded is known under the id that it gave', () => {
    const former = chat('-1', { idScope: 'account' });
    const state = stateAfter({ ...command('append x'), id: former.id });
    const remembered = { ...state, position: { ...state.position, recentIds: [former.id] } };
    expect(repeatOf(chat('-1'), null, remembered)).toEqual({ by: 'id' });
    expect(repeatOf(routed({ id: '43' }), null, remembered)).toBeNull();
  });
});

describe('calls of clients that count their attempts (D9)', () => {
  const call = (attempt: number, fingerprint = 'f') => ({ fingerprint, attempt });
  const known = withAskedCall([], { ...call(0), id: 'first', at: 1_000 });

  test.each([
    ['a retry', call(1), 2_000, 'first'],
    ['another retry', call(2), 2_000, 'first'],
    ['the same call on purpose', call(0), 2_000, null],
    ['a retry of another call', call(1, 'g'), 2_000, null],
    ['a retry within the hour', call(1), 1_000 + limits.askedCallMs, 'first'],
    ['a retry after that', call(1), 1_001 + limits.askedCallMs, null],
  ])('%s', (_, asked, at, firstId) => {
    expect(askedBefore(known, asked, at)).toBe(firstId);
  });

  test('a first attempt that its own retry has overtaken is a repeat', () => {
    expect(askedBefore(withAskedCall([], { ...call(1), id: 'retry', at: 1_000 }), call(0), 1_500)).toBe('retry');
  });

  test('a retry stands for the last call of that kind, and calls are bounded (I11)', () => {
    expect(askedBefore(withAskedCall(known, { ...call(0), id: 'second', at: 1_500 }), call(1), 2_000)).toBe('second');
    const many = Array.from({ length: 40 }, (_, index) => ({ ...call(0, `f${index}`), id: `${index}`, at: 1_000 }));
    expect(many.reduce(withAskedCall, [] as ReturnType<typeof withAskedCall>)).toHaveLength(limits.askedCalls);
  });
});
