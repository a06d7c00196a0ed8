import fc from 'fast-check';
import { Unpackr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { type SessionKey, sessionKeyProblem } from '../../shared/domain/keys/session-key.ts';
import { type EventType, eventTypes, type SessionEvent } from '../../shared/domain/session/events.ts';
import { headlineOf } from '../../shared/domain/session/headline.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { escapeText, unescapeText } from '../../shared/kit/text/escape-text.ts';
import {
  decode,
  decodeCommand,
  decodeCommit,
  decodeInbound,
  encode,
  encodeCommand,
  encodeCommit,
} from '../../shared/wire/codec.ts';
import { bucketKey, commandToken, partitionOf, subjectsUnder } from '../../shared/wire/subjects.ts';
import { holds, intents, play } from '../support/domain/arbitraries.ts';
import { unrecorded } from '../support/domain/commits.ts';
import { command } from '../support/domain/given.ts';

const letters = fc.oneof(fc.constantFrom(...'aA.:*>%=~ é😀'), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }));
const text = fc.string({ unit: letters, maxLength: 12 });
const sessionKeys = fc
  .array(fc.string({ unit: fc.constantFrom(...'aB9_-.@+#/~=$äß€😀'), minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((segments) => segments.join(':') as SessionKey);
const headlines = fc.constantFrom<EventType>(...eventTypes);

describe('subjects', () => {
  test('escaping is injective, has an inverse, and leaves one token of harmless characters', () => {
    const sound =
      (escaping: typeof escapeText) =>
      ([one, other]: readonly [string, string]) => {
        expect(unescapeText(escaping(one))).toBe(one);
        expect(escaping(one)).toMatch(/^[A-Za-z0-9_:%-]*$/);
        expect(escaping(one) === escaping(other)).toBe(one === other);
      };
    holds(
      fc.tuple(text, text),
      sound(escapeText),
      {
        'dots are left': sound((plain) => escapeText(plain).replaceAll('%2E', '.')),
        'it is not for bytes': sound((plain) =>
          [...plain].map((c) => (/[\w:-]/.test(c) ? c : `%${(c.codePointAt(0) ?? 0) % 256}`)).join(''),
        ),
        'it folds case': sound((plain) => escapeText(plain.toLowerCase())),
      },
      1000,
    );
  });

  test('an event subject names its key and no other, and the fence of a key matches it', () => {
    const sound =
      (make: typeof subjectsUnder) =>
      ([headline, one, other, prefix]: readonly [EventType, SessionKey, SessionKey, string]) => {
        const subjects = make(prefix);
        const subject = subjects.event(headline, one);
        expect(sessionKeyProblem(one)).toBe(null);
        expect(subjects.keyOfEvent(subject)).toBe(one);
        expect(subject === subjects.event(headline, other)).toBe(one === other);
        expect(subject.split('.').includes('')).toBe(false);
        expect(matches(subjects.eventsOf(one), subject)).toBe(true);
        expect(matches(subjects.eventsOf(other), subject)).toBe(one === other);
        expect(matches(subjects.eventsUnder('*'), subject)).toBe(true);
        expect(subjects.command(one).split('.')).toHaveLength(3);
        expect(matches(subjects.storedCommands(7), subjects.command(one).replace('.command.', '.command.7.'))).toBe(true);
      };
    const close = sessionKeys.chain((key) =>
      fc.tuple(fc.constant(key), fc.constantFrom(key, `${key}:x`, key.replace('.', ':'), key.toLowerCase())),
    );
    const cases = fc
      .tuple(headlines, fc.oneof(fc.tuple(sessionKeys, sessionKeys), close), fc.constantFrom('natter', 'my-natter_2'))
      .map(([headline, [one, other], prefix]) => [headline, one, other as SessionKey, prefix] as const)
      .filter(([, , other]) => sessionKeyProblem(other) === null);
    holds(
      cases,
      sound(subjectsUnder),
      {
        'dots in keys are tokens': sound((prefix) => {
          const subjects = subjectsUnder(prefix);
          return { ...subjects, event: (headline, key) => subjects.event(headline, key).replaceAll('%2E', '.') };
        }),
        'the fence takes in longer keys': sound((prefix) => ({
          ...subjectsUnder(prefix),
          eventsOf: (key) => `${subjectsUnder(prefix).eventsOf(key)}.>`,
        })),
      },
      1000,
    );
  });

  test('conversations and bucket keys never share a subject', () => {
    const { delivery, inbound, timer } = subjectsUnder('natter');
    const target = fc.record(
      { channel: fc.constantFrom('irc', 'web'), to: text, accountId: text, threadId: text },
      { requiredKeys: ['channel', 'to'] },
    );
    const same = (one: unknown[], other: unknown[]) => one.every((part, i) => (part ?? '') === (other[i] ?? ''));
    fc.assert(
      fc.property(target, target, (a, b) => {
        const parts = [a, b].map(({ channel, to, accountId, threadId }) => [channel, to, accountId, threadId]) as [
          unknown[],
          unknown[],
        ];
        expect(delivery('delivered', a) === delivery('delivered', b)).toBe(same(...parts));
        expect(inbound(a.channel, a.to).split('.')).toHaveLength(4);
        expect(timer('inbound', a.to, b.to).split('.')).toHaveLength(5);
      }),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), fc.array(text, { minLength: 1, maxLength: 3 }), (a, b) => {
        expect(bucketKey(...a)).toMatch(/^[-/_=.a-zA-Z0-9]+$/);
        expect(
          bucketKey(...a)
            .split('.')
            .includes(''),
        ).toBe(false);
        expect(bucketKey(...a) === bucketKey(...b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  test('the partition is FNV-1a of the hashed tokens, as the broker computes it', () => {
    expect([partitionOf(2 ** 32, ''), partitionOf(2 ** 32, 'a'), partitionOf(2 ** 32, 'foo', 'bar')]).toEqual([
      0x811c9dc5, 0xe40c292c, 0xbf9cf968,
    ]);
    const reference = (bytes: Uint8Array) =>
      Number(bytes.reduce((hash, byte) => ((hash ^ BigInt(byte)) * 0x01000193n) & 0xffffffffn, 0x811c9dc5n));
    const equal =
      (partition: typeof partitionOf) =>
      ([key, count]: readonly [SessionKey, number]) => {
        expect(partition(count, commandToken(key))).toBe(reference(Buffer.from(escapeText(key))) % count);
      };
    holds(fc.tuple(sessionKeys, fc.integer({ min: 1, max: 256 })), equal(partitionOf), {
      'it hashes the raw key': equal((count, token) => partitionOf(count, unescapeText(token ?? ''))),
      'it multiplies first (FNV-1)': equal(
        (count, token = '') =>
          [...Buffer.from(token)].reduce((hash, byte) => (Math.imul(hash, 0x01000193) ^ byte) >>> 0, 0x811c9dc5) % count,
      ),
    });
  });
});

/** Whether a NATS filter matches a subject. */
const matches = (filter: string, subject: string): boolean => {
  const tokens = subject.split('.');
  const wanted = filter.split('.');
  if (wanted.at(-1) === '>')
    return tokens.length >= wanted.length && wanted.slice(0, -1).every((part, i) => part === '*' || part === tokens[i]);
  return tokens.length === wanted.length && wanted.every((part, i) => part === '*' || part === tokens[i]);
};

describe('the headline of a commit', () => {
  test('is the type of one of its events, whatever they are and in whatever order', () => {
    const total = (headline: typeof headlineOf) => (types: readonly EventType[]) => {
      const events = types.map((type) => ({ type, v: 1 }) as SessionEvent);
      expect(types).toContain(headline(events));
      expect(headline([...events, ...events])).toBe(headline(events));
    };
    holds(fc.array(headlines, { minLength: 1, maxLength: 6 }), total(headlineOf), {
      'some types have none': total((events) => headlineOf(events.filter(({ type }) => type !== 'turn_completed'))),
      'it is the last event': total((events) => (events.length > 1 ? 'turn_started' : headlineOf(events))),
    });
    expect(() => headlineOf([])).toThrow(RangeError);
  });
});

/** MessagePack of the kinds that arrive: whole commits and commands, cut, spliced, with bytes changed, and plain noise. */
const honest = fc
  .sample(intents, { numRuns: 20, seed: 7 })
  .flatMap((wishes) => play(wishes).commits.map((commit) => encodeCommit(unrecorded(commit))))
  .concat(['post m1', 'reply m1/1 1', 'ask m1/1 p1', 'answer p1 granted'].map((row) => encodeCommand(command(row))));
const spicy = fc.constantFrom(0xc1, 0xc7, 0xd4, 0xd6, 0x72, 0xdf, 0xdd, 0xc6, 0x81, 0x91, 0xa9, 0xed, 0xff);
const edit = fc.record({
  at: fc.nat(),
  byte: fc.oneof(spicy, fc.integer({ min: 0, max: 255 })),
  kind: fc.constantFrom('set', 'insert', 'cut'),
});
const mutated = fc.tuple(fc.constantFrom(...honest), fc.array(edit, { minLength: 1, maxLength: 4 })).map(([original, edits]) => {
  let bytes = [...original];
  for (const { at, byte, kind } of edits) {
    const place = at % (bytes.length + 1);
    if (kind === 'set') bytes[Math.min(place, bytes.length - 1)] = byte;
    else if (kind === 'insert') bytes.splice(place, 0, byte);
    else bytes = bytes.slice(0, place);
  }
  return Uint8Array.from(bytes);
});
const noise = fc.uint8Array({ maxLength: 200 });
const evilMap = fc.constantFrom('__proto__', 'constructor', 'toString', 'x').chain((name) =>
  fc.constantFrom<unknown>({ polluted: true }, 1, null, [1]).map((value) => {
    const body = encode(value);
    return Uint8Array.from([0x81, 0xa0 + name.length, ...Buffer.from(name), ...body]);
  }),
);
const hostile = fc.oneof({ weight: 6, arbitrary: mutated }, { weight: 3, arbitrary: noise }, { weight: 1, arbitrary: evilMap });

describe('the codec', () => {
  test('20,000 hostile messages: only NatterError, no pollution, and what is accepted is plain data', { timeout: 90_000 }, () => {
    const readers = [(bytes: Uint8Array) => decodeCommit(bytes, 1, 1), decodeCommand, decodeInbound];
    const harmless = (plain: typeof decode) => (bytes: Uint8Array) => {
      for (const read of [plain, readers[bytes.length % readers.length] ?? plain]) {
        try {
          assertPlain(read(bytes));
        } catch (error) {
          if (!(error instanceof NatterError)) throw error;
        }
      }
      if (Object.keys(Object.prototype).length > 0 || 'polluted' in {}) throw new Error('Object.prototype is polluted');
    };
    const naive = new Unpackr({ useRecords: false, int64AsType: 'number' });
    const trusting: typeof decode = (bytes) => {
      try {
        return naive.unpack(bytes);
      } catch (cause) {
        throw new NatterError('invalid', 'cannot be decoded', { cause });
      }
    };
    holds(hostile, harmless(decode), { 'the scan is left out': harmless(trusting) }, 20_000);
  });

  test('commits and commands come back as they were, without what was undefined', () => {
    const faithful = (write: typeof encodeCommit) => (wishes: Parameters<typeof play>[0]) => {
      const { commits: written, asked } = play(wishes);
      for (const { seq, recordedAt, digest, sizeBytes, ...commit } of written) {
        const loose = {
          ...commit,
          events: commit.events.map((event) => ({ ...event, reason: 'reason' in event ? event.reason : undefined })),
        };
        expect(decodeCommit(write(loose as typeof commit), seq, recordedAt)).toStrictEqual({
          ...commit,
          seq,
          recordedAt,
          digest,
          sizeBytes,
        });
      }
      for (const { envelope } of asked.slice(0, 5)) {
        expect(decodeCommand(encodeCommand({ ...envelope, ...{ answerTo: undefined } }))).toStrictEqual(envelope);
      }
    };
    holds(
      intents,
      faithful(encodeCommit),
      {
        'times are whole seconds': faithful((commit) => encodeCommit({ ...commit, at: Math.floor(commit.at / 1000) * 1000 })),
      },
      50,
    );
  });

  test('any text is written as valid UTF-8 and read back alike, broken surrogates as U+FFFD', () => {
    const anything = fc.string({
      unit: fc.oneof(fc.constantFrom('\ud83d', '\udc00', '😀', 'é', 'a'.repeat(40)), fc.string({ unit: 'binary', maxLength: 1 })),
      maxLength: 40,
    });
    const valid = (write: typeof encode) => (value: string) => {
      const bytes = write({ [value]: [value] });
      expect(new Unpackr({ useRecords: false }).unpack(bytes)).toEqual(decode(bytes));
      expect(decode(bytes)).toEqual({ [value.toWellFormed()]: [value.toWellFormed()] });
    };
    holds(
      anything.filter((value) => !value.includes('__proto__')),
      valid(encode),
      {
        'surrogates are dropped': valid((value) => encode(JSON.parse(JSON.stringify(value).replaceAll(/\\ud[89a-f]../g, '')))),
      },
    );
  });
});

/** Throws unless the value is what JSON could hold, or bytes. */
const assertPlain = (value: unknown): void => {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value) || value instanceof Uint8Array) return;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) throw new Error(`${String(value)} is no plain data`);
  for (const [name, part] of Object.entries(value as object)) {
    if (name.includes('__proto')) throw new Error(`has the name ${name}`);
    assertPlain(part);
  }
};
