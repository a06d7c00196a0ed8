import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { processSnapshotKey } from '../../shared/adapters/kv/snapshot-key.ts';
import { decide } from '../../shared/domain/session/decide/index.ts';
import { isRepeat } from '../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope, RecordedCommit } from '../../shared/domain/session/envelope.ts';
import {
  fold,
  fromPlain,
  initialState,
  type PlainState,
  type SessionState,
  toPlain,
} from '../../shared/domain/session/fold/evolve.ts';
import { withIds } from '../../shared/domain/session/repeats/id-memory.ts';
import { limits } from '../../shared/kit/limits.ts';
import { decodeCommit, encodeCommit } from '../../shared/wire/codec.ts';
import { decodeSnapshot, encodeSnapshot } from '../../shared/wire/snapshot.ts';
import { holds } from '../support/domain/arbitraries.ts';
import { unrecorded } from '../support/domain/commits.ts';
import { commitOf, key } from '../support/domain/given.ts';

/** What may be broken. */
interface Parts {
  isRepeat: typeof isRepeat;
  fold: typeof fold;
  save: (state: SessionState) => PlainState;
}
const parts: Parts = { isRepeat, fold, save: toPlain };

const ours = processSnapshotKey();

/** Sessions with a past, so that short histories meet the end of a string of digests, and a memory that forgets. */
const withPast = (ids: number): SessionState => {
  const past = Array.from({ length: ids }, (_, index) => `past ${index}`);
  return { ...initialState, position: { ...initialState.position, olderIds: withIds([], past) } };
};
const pasts = {
  none: withPast(0),
  'nearly a string': withPast(limits.olderIdsEach - 70),
  'more than fits': withPast(limits.olderIds + 2 * limits.olderIdsEach - 70),
};

/** A message, or what happens to one that was made earlier, chosen by the number. */
const steps = fc.array(
  fc.tuple(
    fc.constantFrom(
      'say',
      'say',
      'say',
      'hold',
      'send',
      'again',
      'again',
      'renamed',
      'renamed',
      'others',
      'log',
      'snapshot',
      'snapshot',
    ),
    fc.nat(1_000),
  ),
  { minLength: 12, maxLength: 30 },
);
const histories = fc.record({ past: fc.constantFrom(...(Object.keys(pasts) as (keyof typeof pasts)[])), steps });
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

/** Message `number`; two of three conversations count theirs. */
const message = (number: number, id = `in-${number}`): CommandEnvelope => ({
  ...{ id, key, at: 100, correlationId: id, causationId: `${number}`, actor: 'irc:ann' },
  ...(number % 3 !== 0 && { order: { source: `source ${number % 3}`, number: String(97 + number) } }),
  data: {
    type: 'append_message',
    sessionId: 's1',
    message: { messageId: `${number}`, text: `message ${number}`, sender: { id: 'ann' } },
  },
});

/** The texts that took effect, and those that should have. */
const play = ({ past, steps: taken }: History, { isRepeat: repeats, fold: step, save }: Parts) => {
  const start = pasts[past];
  let state = start;
  const states = [start];
  const commits: RecordedCommit[] = [];
  const sent: number[] = [];
  const held: number[] = [];
  let made = 0;
  const take = (envelope: CommandEnvelope): void => {
    if (repeats(envelope, null, state)) return;
    const decision = decide(envelope, state);
    if ('refuse' in decision) throw new Error(decision.refuse);
    const commit = commitOf(state, envelope, decision.accept, commits.length + 1);
    commits.push(envelope.order ? decodeCommit(encodeCommit(unrecorded(commit)), commit.seq, 0) : commit);
    state = step(state, commits.at(-1)!);
    states.push(state);
  };
  const send = (number: number): void => {
    sent.push(number);
    take(message(number));
  };
  for (const [verb, number] of taken) {
    const earlier = sent[number % Math.max(1, sent.length)];
    if (verb === 'say') send(made++);
    else if (verb === 'hold') held.push(made++);
    else if (verb === 'send' && held.length > 0) send(held.shift()!);
    else if (verb === 'again' && earlier !== undefined) take(message(earlier));
    else if (verb === 'renamed' && earlier !== undefined && earlier % 3 !== 0) take(message(earlier, `in-other-${earlier}`));
    else if (verb === 'others') for (let count = 0; count < limits.recentIds + 6; count++) send(3 * (1_000 + made++));
    else if (verb === 'log') state = commits.reduce(step, start);
    else if (verb === 'snapshot') {
      const cut = number % states.length;
      const saved = decodeSnapshot(key, encodeSnapshot(key, save(states[cut]!), ours), ours);
      if (saved === null) throw new Error('the snapshot cannot be read back');
      state = commits.slice(cut).reduce(step, fromPlain(saved));
    }
  }
  const heard = commits.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'user_message' ? [event.message.text] : [])),
  );
  return { heard: heard.sort(), expected: sent.map((number) => `message ${number}`).sort() };
};

const forgetting = (lost: (position: SessionState['position']) => Partial<SessionState['position']>): Partial<Parts> => ({
  fold: (state, commit) => {
    const { machine, position } = fold(state, commit);
    return { machine, position: { ...position, ...lost(position) } };
  },
});
const saving = (lost: Partial<PlainState['position']>): Partial<Parts> => ({
  save: (state) => ({ ...toPlain(state), position: { ...toPlain(state).position, ...lost } }),
});

describe('a message takes effect once, however late it comes again (D9)', () => {
  test('in any interleaving of messages, repeats, late copies, copies under another id, and crashes', () => {
    const property = (change: Partial<Parts>) => (history: History) => {
      const { heard, expected } = play(history, { ...parts, ...change });
      expect(heard).toEqual(expected);
    };
    const faults: Record<string, Partial<Parts>> = {
      'older ids are not remembered': forgetting(() => ({ olderIds: [] })),
      'a snapshot forgets the older ids': saving({ olderIds: [] }),
      'a snapshot forgets the order numbers': saving({ orders: [] }),
      'the digests of a string begin one character late': forgetting(({ olderIds }) => ({
        olderIds: olderIds.map((digests) => (digests.length > 6_000 ? `${digests.slice(1)}${digests[0]}` : digests)),
      })),
      'the highest number alone is remembered': forgetting(({ orders }) => ({
        orders: orders.map(({ source, numbers }) => ({ source, numbers: numbers.split(' ').at(-1) ?? '' })),
      })),
      'what comes after a higher number is a repeat': {
        isRepeat: (envelope, place, state) => {
          const known = state.position.orders
            .find(({ source }) => source === envelope.order?.source)
            ?.numbers.split(' ')
            .at(-1);
          return isRepeat(envelope, place, state) || Number(envelope.order?.number) <= Number(known);
        },
      },
      'nothing is a repeat': { isRepeat: () => false },
    };
    const checks = Object.entries(faults).map(([name, change]) => [name, property(change)] as const);
    holds(histories, property({}), Object.fromEntries(checks), 40);
  });
});
