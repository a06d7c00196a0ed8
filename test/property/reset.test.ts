import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configSchema } from '../../shared/domain/config/schema.ts';
import { dayAround, expiryFor, freshness, nextReset } from '../../shared/domain/reset/reset.ts';
import { decide } from '../../shared/domain/session/decide/index.ts';
import type { CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import { fold, initialState } from '../../shared/domain/session/fold/evolve.ts';
import type { Expiry } from '../../shared/domain/values/expiry.ts';
import { holds } from '../support/domain/arbitraries.ts';
import { commitOf, key } from '../support/domain/given.ts';

/** The daily reset across a year in five zones, judged by the wall clocks of `Intl` and not by our own reckoning (F16). */
const minute = 60_000;
const day = 24 * 60 * minute;
const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC'] as const;
const newYear = Date.UTC(2026, 0, 1);

const zone = fc.constantFrom(...zones);
/** The hours around clock changes come up as often as all others. */
const atHour = fc.oneof(fc.constantFrom(1, 2, 3, 4), fc.integer({ min: 0, max: 23 }));
/** Nights of clock changes in the zones above come up as often as all other times of the year. */
const changes = ['2026-03-08', '2026-11-01', '2026-03-29', '2026-10-25', '2026-04-04', '2026-10-03'].map((date) =>
  Date.parse(date),
);
const time = fc.oneof(
  fc.integer({ min: newYear, max: newYear + 366 * day }),
  fc.tuple(fc.constantFrom(...changes), fc.integer({ min: 0, max: 2 * day })).map(([start, after]) => start + after),
);

const clocks = new Map(
  zones.map((name) => [
    name,
    new Intl.DateTimeFormat('en-CA', { timeZone: name, hourCycle: 'h23', dateStyle: 'short', timeStyle: 'medium' }),
  ]),
);
/** What a clock on the wall shows: date, and minutes since midnight. */
const wall = (at: number, name: (typeof zones)[number]) => {
  const [date = '', clock = ''] = clocks.get(name)?.format(at).split(', ') ?? [];
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return { date, minutes: hours * 60 + minutes };
};
/** The name of the day that begins at a local hour: two times have the same one exactly if no boundary lies between them. */
const dayName = (at: number, hour: number, name: (typeof zones)[number]): string => {
  const { date, minutes } = wall(at, name);
  return minutes >= hour * 60 ? date : new Date(Date.parse(date) - day).toISOString().slice(0, 10);
};

type Boundary = (at: number, hour: number, name: string) => number;
const boundary: Boundary = (at, hour, name) => dayAround(at, hour, name).from;
/** What people write who know no time zones. */
const faulty: Record<string, Boundary> = {
  'a day is 24 hours': (at) => at - day,
  'the offset of winter is that of the year': (at, hour, name) => {
    const offset = wall(newYear, name as 'UTC').minutes * minute - (wall(newYear, name as 'UTC').date < '2026' ? day : 0);
    const start = Math.floor((at + offset) / day) * day + hour * 60 * minute - offset;
    return start > at ? start - day : start;
  },
};
const holdsForBoundaries = <T>(arbitrary: fc.Arbitrary<T>, property: (given: T, of: Boundary) => void, runs?: number): void =>
  holds(
    arbitrary,
    (given) => property(given, boundary),
    Object.fromEntries(Object.entries(faulty).map(([name, of]) => [name, (given: T) => property(given, of)])),
    runs,
  );

describe('the daily boundary', () => {
  test('A4/44: it is the local hour, but where the clock skips it the first instant after the gap', () => {
    holdsForBoundaries(fc.record({ at: time, hour: atHour, name: zone }), ({ at, hour, name }, of) => {
      const from = of(at, hour, name);
      const [before, after] = [wall(from - 1, name), wall(from, name)];
      expect(from % minute).toBe(0);
      expect(after.minutes === hour * 60 || (before.minutes < hour * 60 && after.minutes > hour * 60)).toBe(true);
    });
  });

  test('A4/45: it is the last one: no other lies between it and the message', () => {
    holdsForBoundaries(fc.record({ at: time, hour: atHour, name: zone }), ({ at, hour, name }, of) => {
      const from = of(at, hour, name);
      expect(from).toBeLessThanOrEqual(at);
      expect(dayName(from, hour, name)).toBe(dayName(at, hour, name));
      expect(dayName(from - 1, hour, name)).not.toBe(dayName(at, hour, name));
    });
  });

  test('A4/45: days follow each other without a gap', () => {
    const property = ({ at, hour, name }: { at: number; hour: number; name: string }, until: (at: number) => number) => {
      const end = until(dayAround(at, hour, name).until);
      expect(dayAround(end, hour, name).from).toBe(end);
      expect(dayAround(end - 1, hour, name).until).toBe(end);
    };
    holds(fc.record({ at: time, hour: atHour, name: zone }), (given) => property(given, (end) => end), {
      'the next one is 24 hours later': (given) => property(given, () => dayAround(given.at, given.hour, given.name).from + day),
    });
  });

  test('A4/44: what a configuration remembers does not depend on the order of the messages', () => {
    const given = fc.record({ times: fc.array(time, { minLength: 1, maxLength: 12 }), hour: atHour, name: zone });
    fc.assert(
      fc.property(given, ({ times, hour, name }) => {
        const { session } = configSchema.parse({ session: { timeZone: name, reset: { atHour: hour } } });
        for (const at of times) expect(expiryFor(session, { type: 'dm' }, at).dailyBoundaryAt).toBe(boundary(at, hour, name));
      }),
    );
  });
});

describe('freshness', () => {
  const policy = fc.record({ atHour, idleMinutes: fc.integer({ min: 1, max: 3_000 }) }, { requiredKeys: [] });

  test('A4/45–47: monotone: once stale, a session stays stale until somebody writes', () => {
    const given = fc.record({
      policy,
      last: time,
      name: zone,
      waits: fc.array(fc.integer({ min: 0, max: day }), { maxLength: 8 }),
    });
    const property = (
      { policy: rules, last, name, waits }: typeof given extends fc.Arbitrary<infer T> ? T : never,
      judge: typeof freshness,
    ) => {
      let now = last;
      let stale = false;
      for (const wait of waits) {
        now += wait;
        const { fresh } = judge({ rule: 'r', policy: rules }, last, now, name);
        expect(stale && fresh).toBe(false);
        stale = !fresh;
      }
    };
    holds(given, (one) => property(one, freshness), {
      'only the hour of the reset resets': (one) =>
        property(one, (rule, last, now, name) => freshness(rule, last, now % day < day / 2 ? now : last, name)),
    });
  });

  test('A4/43: the next reset is the moment from which a message begins anew, and not before', () => {
    const given = fc.record({ reset: policy, last: time, name: zone });
    const property = ({ reset, last, name }: typeof given extends fc.Arbitrary<infer T> ? T : never, shift: number) => {
      const { session } = configSchema.parse({
        session: { timeZone: name, reset: { mode: reset.atHour === undefined ? 'idle' : 'daily', ...reset } },
      });
      const { dailyAt = Number.POSITIVE_INFINITY, idleAt = Number.POSITIVE_INFINITY } = nextReset(
        session,
        { type: 'dm' },
        last,
        last,
      );
      // The idle window ends after its last moment, the day with its last moment.
      const first = Math.min(dailyAt, idleAt + 1) + shift;
      expect(nextReset(session, { type: 'dm' }, last, first).due).toBe(true);
      expect(nextReset(session, { type: 'dm' }, last, first - 1).due).toBe(false);
    };
    holds(given, (one) => property(one, 0), {
      'one moment late': (one) => property(one, 1),
      'one moment early': (one) => property(one, -1),
    });
  });
});

describe('a year of messages', () => {
  /** The times at which a session's own rules reset it, when its messages come in this order. */
  const resetsOf = (times: readonly number[], expiryAt: (at: number) => Expiry, lastUpdate = Math.max): number[] => {
    let state = initialState;
    return times.filter((at, index) => {
      const id = `m${index}`;
      const command: CommandEnvelope = {
        ...{ id, key, at, correlationId: id, causationId: id, actor: 'test' },
        data: {
          type: 'append_message',
          sessionId: `s${index}`,
          message: { messageId: id, text: '', sender: { id: 'u' } },
          expiry: expiryAt(at),
        },
      };
      const decision = decide(command, state);
      const events = 'accept' in decision ? decision.accept : [];
      const { interactedAt } = state.position;
      state = fold(state, commitOf(state, command, events));
      state = {
        ...state,
        position: { ...state.position, interactedAt: lastUpdate(interactedAt, state.position.interactedAt, at) },
      };
      return events.some(({ type }) => type === 'session_reset');
    });
  };
  const year = fc.record({ times: fc.array(time, { minLength: 2, maxLength: 40 }), hour: atHour, name: zone });
  const daily = (of: Boundary, hour: number, name: string) => (at: number) => ({
    rule: 'r',
    dailyBoundaryAt: of(at, hour, name),
  });

  test('A4/45: a message resets exactly when a boundary lies between it and the one before', () => {
    holdsForBoundaries(year, ({ times, hour, name }, of) => {
      const inOrder = times.toSorted((a, b) => a - b);
      const due = inOrder.filter(
        (at, index) => index > 0 && dayName(at, hour, name) !== dayName(inOrder[index - 1] ?? 0, hour, name),
      );
      expect(resetsOf(inOrder, daily(of, hour, name))).toEqual(due);
    });
  });

  test('F16: at most one reset a boundary, also when clocks jump and messages come late', () => {
    const jumps = fc.array(fc.constantFrom(0, 0, 0, -2 * 60 * minute, 2 * 60 * minute, day), { minLength: 40, maxLength: 40 });
    type Year = { times: number[]; hour: number; name: (typeof zones)[number]; by: number[] };
    const property = ({ times, hour, name, by }: Year, of = boundary, lastUpdate = Math.max) => {
      const jumped = times.toSorted((a, b) => a - b).map((at, index) => at + (by[index] ?? 0));
      const days = resetsOf(jumped, daily(of, hour, name), lastUpdate).map((at) => dayName(at, hour, name));
      expect(new Set(days).size).toBe(days.length);
    };
    holds(
      fc.tuple(year, jumps).map(([given, by]) => ({ ...given, by })),
      (given) => property(given),
      {
        'every hour is a boundary': (given) => property(given, (at) => Math.floor(at / (60 * minute)) * 60 * minute),
        'a late message makes a session older': (given) => property(given, boundary, (...times) => times.at(-1) ?? 0),
      },
    );
  });
});
