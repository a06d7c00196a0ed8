import { Packr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import type { CheckpointRequest, CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { cloudEventHeaders } from '../../../shared/wire/cloudevents.ts';
import {
  decode,
  decodeCheckpoint,
  decodeCommand,
  decodeCommit,
  decodeInbound,
  digestOf,
  encode,
  encodeCheckpoint,
  encodeCommand,
  encodeCommit,
} from '../../../shared/wire/codec.ts';
import { keyOf } from '../../support/domain/commits.ts';
import { command, commitOf, given, stateAfter } from '../../support/domain/given.ts';

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const nested = (depth: number): Uint8Array => Uint8Array.from([...Array<number>(depth).fill(0x91), 0xc0]);

/** What `read` throws, as `code: message`. */
const problemOf = (read: () => unknown): string => {
  try {
    return `no problem: ${JSON.stringify(read())}`;
  } catch (error) {
    for (const code of ['invalid', 'too_large'] as const) if (hasCode(error, code)) return `${code}: ${(error as Error).message}`;
    throw error;
  }
};

describe('bytes that are refused before anything is built from them', () => {
  test.each([
    ['the byte that is never used', 'c1', 'type byte 0xc1'],
    ['an extension', 'd6 ff 00000000', 'type byte 0xd6'],
    ['a record definition (0x72)', 'd4 72 40 91 a1 78 01', 'type byte 0xd4'],
    ['a long extension', 'c7 01 01 00', 'type byte 0xc7'],
    ['__proto__ as a key', '81 a9 5f5f70726f746f5f5f 80', 'has the key "__proto__"'],
    ['__proto__ as a long key', '81 d9 09 5f5f70726f746f5f5f 80', 'has the key "__proto__"'],
    ['a number as a key', '81 01 01', 'a map key that is not text'],
    ['bytes after the end', 'c0 c0', '1 bytes after its end'],
    ['nothing', '', 'is cut off'],
    ['a text that is cut off', 'a5 6162', 'is cut off'],
    ['a list that promises four thousand million items', 'dd ffffffff', `more than ${limits.decodeItems} items`],
    ['a map that promises as many', 'df ffffffff', `more than ${limits.decodeItems} items`],
    ['half a surrogate pair as text', 'a3 eda080', 'not valid UTF-8'],
    ['a byte that starts no character', 'a1 ff', 'not valid UTF-8'],
    ['an over-long NUL', 'a2 c080', 'not valid UTF-8'],
    ['a character that is cut off', 'a1 e2', 'not valid UTF-8'],
    ['bad UTF-8 in a key', '81 a1 ff 01', 'not valid UTF-8'],
  ])('%s', (_, hex, problem) => {
    expect(problemOf(() => decode(bytes(hex)))).toMatch(/^invalid: MessagePack message /);
    expect(problemOf(() => decode(bytes(hex)))).toContain(problem);
  });

  test(`more than ${limits.decodeDepth} levels`, () => {
    expect(problemOf(() => decode(nested(limits.decodeDepth)))).toContain('no problem');
    expect(problemOf(() => decode(nested(limits.decodeDepth + 1)))).toContain('nested deeper');
    expect(problemOf(() => decode(nested(100_000)))).toContain('nested deeper');
  });

  test(`more than ${limits.decodeItems} values in all, in one list or in many`, () => {
    const listOf = (count: number, item: Uint8Array): Buffer => {
      const head = Buffer.from([0xdc, 0, 0]);
      head.writeUInt16BE(count, 1);
      return Buffer.concat([head, ...Array<Uint8Array>(count).fill(item)]);
    };
    const [nothing, emptyMap] = [Uint8Array.of(0xc0), Uint8Array.of(0x80)];
    // Each inner list is a value itself.
    const within = [listOf(limits.decodeItems, nothing), listOf(limits.decodeItems / 100, listOf(99, emptyMap))];
    const beyond = [listOf(limits.decodeItems + 1, nothing), listOf(limits.decodeItems / 100, listOf(100, emptyMap))];
    for (const each of within) expect(problemOf(() => decode(each))).toContain('no problem');
    for (const each of beyond) expect(problemOf(() => decode(each))).toContain(`has more than ${limits.decodeItems} items`);
  });

  test('numbers below 0x80 are numbers, not records', () => {
    expect(['40', '72', '7f'].map((hex) => decode(bytes(hex)))).toEqual([0x40, 0x72, 0x7f]);
  });

  test('too many bytes, in either direction', () => {
    const big = encode('x'.repeat(1000));
    expect(problemOf(() => decode(big, 1000))).toBe('too_large: message of 1003 bytes; at most 1000 are allowed');
    expect(problemOf(() => encode('x'.repeat(1000), 1000))).toContain('too_large');
    const long = {
      ...command('append m1'),
      data: {
        type: 'append_message',
        sessionId: 's',
        message: { messageId: 'm', text: 'x'.repeat(limits.commandBytes), sender: { id: 'u' } },
      },
    };
    expect(problemOf(() => encodeCommand(long as CommandEnvelope))).toContain(`at most ${limits.commandBytes} are allowed`);
  });
});

describe('messages of the wrong shape name the field', () => {
  const asked = command('post m1');
  test.each([
    ['an unknown command', { data: { type: 'drop_table' } }, 'data.type'],
    ['an event in place of a command', { data: { type: 'turn_completed' } }, 'data.type'],
    ['a forged event of XState', { data: { type: 'xstate.done.actor.turn' } }, 'data.type'],
    ['xstate.stop', { data: { type: 'xstate.stop' } }, 'data.type'],
    ['the wildcard', { data: { type: '*' } }, 'data.type'],
    ['__proto__ as a type', { data: { type: '__proto__' } }, 'data.type'],
    ['an object as a type', { data: { type: { toString: 1 } } }, 'data.type'],
    ['no data', { data: undefined }, 'data'],
    ['a bad key', { key: 'a b' }, 'key'],
    ['an empty id', { id: '' }, 'id'],
    ['a time before 1970', { at: -1 }, 'at'],
    ['a time that no calendar can write', { at: 1e300 }, 'at'],
    ['a time that is no number', { at: Number.NaN }, 'at'],
    ['an actor of 300 characters', { actor: 'x'.repeat(300) }, 'actor'],
  ])('%s', (_, change, field) => {
    const read = () => decodeCommand(encode({ ...asked, ...change }));
    expect(problemOf(read)).toMatch(new RegExp(`^invalid: ${field}: `));
  });

  test('C9: the generation that a plan is for comes through', () => {
    expect(decodeCommand(encodeCommand({ ...asked, ifGeneration: 3 }))).toEqual({ ...asked, ifGeneration: 3 });
  });

  const lookBack: CheckpointRequest = {
    ...{ id: '12.0', key: keyOf('agent:main:main'), sessionId: 's1', reason: 'idle' },
    ...{ fromRev: 3, toRev: 9, afterSeq: 0, throughSeq: 12 },
  };
  test('A7/80: a request for introspection comes through', () => {
    expect(decodeCheckpoint(encodeCheckpoint(lookBack))).toEqual(lookBack);
  });
  test.each([
    ['a bad key', { key: 'a b' }, 'key'],
    ['a reason that is none', { reason: 'boredom' }, 'reason'],
    ['a rev before the first', { fromRev: 0 }, 'fromRev'],
    ['half a rev', { toRev: 1.5 }, 'toRev'],
    ['a sequence that is no number', { throughSeq: '12' }, 'throughSeq'],
    ['a sequence beyond what can be counted', { afterSeq: 1e300 }, 'afterSeq'],
    ['no session', { sessionId: '' }, 'sessionId'],
  ])('A7/80: a request for introspection with %s', (_, change, field) => {
    expect(problemOf(() => decodeCheckpoint(encode({ ...lookBack, ...change })))).toMatch(new RegExp(`^invalid: ${field}: `));
  });

  test('unknown fields are dropped, so that a newer sender is understood', () => {
    expect(decodeCommand(encode({ ...asked, novelty: 1 }))).toEqual(asked);
  });

  test('an inbound envelope is checked the same way', () => {
    const envelope = { id: 'e1', channel: 'irc', conversation: { id: '#u', kind: 'group' }, sender: { id: 'nick' }, text: 'hi' };
    expect(decodeInbound(encode(envelope))).toEqual({ ...envelope, mentioned: false, directed: false });
    expect(problemOf(() => decodeInbound(encode({ ...envelope, channel: 'I RC' })))).toContain('invalid: channel: ');
    expect(problemOf(() => decodeInbound(encode({ ...envelope, conversation: { id: '#u', kind: 'mob' } })))).toContain(
      'conversation.kind',
    );
  });
});

describe('a commit on the wire', () => {
  const asked = command('post m1 @1763736000123');
  const { seq, recordedAt, digest, sizeBytes, ...commit } = commitOf(stateAfter(), asked, given().when(asked).events, 7);

  test('comes back as it was', () => {
    expect(decodeCommit(encodeCommit(commit), seq, recordedAt)).toStrictEqual({ ...commit, seq, recordedAt, digest, sizeBytes });
  });

  test('is not checked again by the process that encoded it, which reads the same', () => {
    const bytes = encodeCommit({ ...commit, traceparent: undefined, novelty: 1 } as unknown as typeof commit);
    expect(decodeCommit(bytes, seq, recordedAt, digestOf(bytes))).toStrictEqual(decodeCommit(bytes, seq, recordedAt));
    const unchecked = encode({ ...commit, rev: 0 });
    expect(decodeCommit(unchecked, seq, recordedAt, digestOf(unchecked)).rev).toBe(0);
    expect(problemOf(() => decodeCommit(unchecked, seq, recordedAt, digestOf(bytes)))).toContain('invalid: rev');
  });

  test('is plain MessagePack that a reader without our settings understands', () => {
    expect(new Packr({ useRecords: false, mapsAsObjects: true }).unpack(encodeCommit(commit))).toEqual(commit);
  });

  test('a field that is undefined is left out', () => {
    expect(decode(encode({ here: 1, gone: undefined }))).toStrictEqual({ here: 1 });
  });

  test('with an event that we could not read back it is never written', () => {
    const odd = { ...commit, events: [{ type: 'turn_completed', v: 9 }] } as unknown as typeof commit;
    expect(() => encodeCommit(odd)).toThrow();
  });

  test.each<[string, Partial<typeof commit>]>([
    ['sessionId', { sessionId: 's'.repeat(129) }],
    ['actor', { actor: '' }],
    ['at', { at: 253_402_300_800_000 }],
    ['rev', { rev: 0 }],
    ['key', { key: 'agent:main:x y' as typeof commit.key }],
    ['command.seq', { command: { id: 'c', seq: 0, incarnation: 1 } }],
    ['events', { events: [] }],
  ])('with a %s that we could not read back it is never written either', (field, wrong) => {
    expect(problemOf(() => encodeCommit({ ...commit, ...wrong }))).toMatch(new RegExp(`^invalid: ${field}`));
  });

  test.each([
    ['a newer version of an event', [{ type: 'turn_completed', v: 2, turn: { id: 't', attempt: 1 } }]],
    ['an unknown event', [{ type: 'xstate.stop', v: 1 }]],
    ['an event that is none', [null]],
    ['an event whose type is an object', [{ type: { toString: 1 }, v: 1 }]],
  ])('with %s it is refused, not folded with a hole', (_, events) => {
    expect(problemOf(() => decodeCommit(encode({ ...commit, events }), seq, recordedAt))).toBe(
      `invalid: commit ${seq} of ${commit.key} has an event that this version cannot read`,
    );
  });

  test('without events it is refused', () => {
    expect(problemOf(() => decodeCommit(encode({ ...commit, events: [] }), seq, recordedAt))).toContain('invalid: events');
  });

  test('its headers let anyone route it without decoding, and none can be forged by what is in it', () => {
    expect(cloudEventHeaders({ ...commit, id: 'c\r\nNats-Rollup: all' })).toEqual({
      'ce-specversion': '1.0',
      'ce-id': 'c%0D%0ANats-Rollup%3A%20all',
      'ce-source': '/natter/sessions/agent%3Amain%3Atest',
      'ce-type': 'natter.turn_started',
      'ce-time': '2025-11-21T14:40:00.123Z',
      'ce-subject': 'agent%3Amain%3Atest',
      'content-type': 'application/msgpack',
    });
    for (const at of [0, 253_402_300_799_999]) expect(() => cloudEventHeaders({ ...commit, at })).not.toThrow();
  });
});
