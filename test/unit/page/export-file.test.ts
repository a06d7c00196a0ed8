import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exportLines, verifyLines } from '../../../services/cli/stored-export.ts';
import { ExportFile } from '../../../services/page/export-viewer/export-file.ts';
import { hash } from '../../../services/page/fold/sha256.ts';
import { unpack } from '../../../services/page/fold/unpack.ts';
import type { NatterClient } from '../../../shared/client/main.ts';
import { sessionMarkdown } from '../../../shared/domain/projections/session-markdown.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { digestOf, encode, encodeCommit } from '../../../shared/wire/codec.ts';
import { recorded, unrecorded } from '../../support/domain/commits.ts';
import { key, tell } from '../../support/domain/given.ts';

const { commits } = tell('append m1', 'append m2', 'append m3');
const bytesOf = (commit: RecordedCommit): string => Buffer.from(encodeCommit(unrecorded(commit))).toString('base64');
const client = {
  sessions: {
    exportStored: async function* () {
      for (const commit of commits) yield { seq: commit.seq, recordedAt: commit.recordedAt, bytes: bytesOf(commit) };
    },
  },
} as unknown as NatterClient;
const whole: string[] = [];
for await (const line of exportLines(client, key, '2026-11-22T00:00:00.000Z')) whole.push(JSON.stringify(line));
const [begin = '', first = '', second = '', third = '', end = ''] = whole;
const changed = JSON.stringify({
  ...JSON.parse(second),
  bytes: bytesOf(recorded({ ...unrecorded(commits[1] as RecordedCommit), actor: 'eve' }, 4)),
});

const opened = (lines: readonly string[]) => {
  const file = new ExportFile();
  for (const line of lines) file.take(line);
  return file.end();
};

describe('F13: the page verifies an export as natter verify does, in its words', () => {
  test.each<[string, readonly string[]]>([
    ['whole', whole],
    ['two sessions', [...whole, ...whole]],
    ['a line is missing', [begin, first, third, end]],
    ['the first commit is missing', [begin, second, third, end]],
    ['the last commit is missing', [begin, first, second, end]],
    ['a commit was changed', [begin, first, changed, third, end]],
    ['two lines changed places', [begin, second, first, third, end]],
    ['a line twice', [begin, first, first, second, third, end]],
    ['another end', [begin, first, second, third, end.replace(/"digest":"./, '"digest":"_')]],
    ['the end of another session', [begin, first, second, third, end.replace('"end":"', '"end":"agent:other:')]],
    ['no end', [begin, first, second, third]],
    ['no JSON', [begin, first, '{', second, third, end]],
  ])('%s', async (_, lines) => {
    const text = async function* () {
      yield* lines;
    };
    const expected: (string | null)[] = [];
    for await (const { problem } of verifyLines(text())) expected.push(problem);
    const number = (problem: string | null) => problem?.replace(/^line \d+: /, '') ?? null;
    expect(opened(lines).map(({ problem }) => number(problem))).toEqual(expected.map(number));
    expect(opened(lines).every(({ isVerified }) => isVerified)).toBe(true);
  });

  test('what it reads are the commits that the gateway has', () => {
    const [session] = opened(whole);
    expect(session?.commits).toEqual(JSON.parse(JSON.stringify(commits)));
  });

  test('the JSON lines of a transcript are read as well, and said not to be verified', () => {
    const lines = commits.map((commit) => JSON.stringify(commit));
    expect(opened(lines)).toMatchObject([{ key, name: 'test', problem: null, isVerified: false }]);
    expect(opened([lines[0] ?? '', lines[2] ?? ''])).toMatchObject([{ problem: 'line 2: revs 2 to 2 are missing' }]);
  });

  test('a file of anything else is refused by a sentence', () => {
    for (const lines of [[], ['hello'], ['{"a":1}'], ['null', '3']]) expect(() => opened(lines)).toThrow(/it has no session/);
  });
});

test('the Markdown of a transcript is told from other files, and which file is needed', () => {
  const lines = sessionMarkdown(commits, undefined).text.split('\n');
  expect(() => opened(lines)).toThrow(/^it is Markdown, .* JSON lines .*: natter export KEY --stored --out main\.jsonl$/);
});

/** What Natter itself refuses to write. */
const isOurs = (value: unknown): boolean => !JSON.stringify(value).includes('__proto__');

describe('the MessagePack of commits', () => {
  test('any plain value is read as it was written', () => {
    const same = (value: unknown): void => {
      expect(JSON.stringify(unpack(encode(value)))).toBe(JSON.stringify(value));
    };
    for (const value of [0, -1, -33, 255, 256, 65_536, 2 ** 32, -(2 ** 40), 1.5, 'ü'.repeat(300), [], {}, null, true])
      same(value);
    same({ list: Array.from({ length: 15_000 }, (_, index) => index), text: 'x'.repeat(70_000) });
    fc.assert(fc.property(fc.jsonValue().filter(isOurs), same), { numRuns: 200 });
  });

  test('hostile bytes are refused, and no name reaches a prototype', () => {
    for (const bytes of [[], [0xc1], [0xd4, 1, 2], [0xdb, 255, 255, 255, 255], [0xdd, 255, 255, 255, 255], [1, 2], [0xa1, 0xff]])
      expect(() => unpack(Uint8Array.from(bytes)), `${bytes}`).toThrow(Error);
    expect(() => unpack(Uint8Array.from([...Array(5_000).fill(0x91), 0xc0]))).toThrow(RangeError);
    const name = [...Buffer.from('__proto__')];
    const read = unpack(Uint8Array.from([0x81, 0xa9, ...name, 0x81, 0xa1, 0x78, 1])) as object;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('the digest of bytes is that of the log', () => {
    const bytes = encodeCommit(unrecorded(commits[0] as RecordedCommit));
    expect(hash('sha256', bytes, 'base64url').slice(0, 22)).toBe(digestOf(bytes));
  });
});
