import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyCommand } from '../../../services/cli/commands/sessions/verify.ts';
import { exportLines, type Verified, verifyLines } from '../../../services/cli/stored-export.ts';
import type { Terminal, World } from '../../../services/cli/terminal.ts';
import type { NatterClient } from '../../../shared/client/main.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { encodeCommit } from '../../../shared/wire/codec.ts';
import { recorded, unrecorded } from '../../support/domain/commits.ts';
import { key, tell } from '../../support/domain/given.ts';

const { commits } = tell('append m1', 'append m2', 'append m3');
const client = (history: readonly RecordedCommit[]): NatterClient =>
  ({
    sessions: {
      exportStored: async function* () {
        for (const commit of history) {
          const bytes = Buffer.from(encodeCommit(unrecorded(commit))).toString('base64');
          yield { seq: commit.seq, recordedAt: commit.recordedAt, bytes };
        }
      },
    },
  }) as unknown as NatterClient;
const exported = async (history: readonly RecordedCommit[]): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of exportLines(client(history), key, '2026-11-22T00:00:00.000Z')) lines.push(JSON.stringify(line));
  return lines;
};
const verified = async (lines: readonly string[]): Promise<Verified[]> => {
  const found: Verified[] = [];
  const text = async function* () {
    yield* lines;
  };
  for await (const session of verifyLines(text())) found.push(session);
  return found;
};
const whole = await exported(commits);
const changedLast = Buffer.from(encodeCommit(unrecorded({ ...(commits[2] as RecordedCommit), actor: 'eve' }))).toString('base64');
const changed = JSON.stringify({
  ...JSON.parse(whole[2] as string),
  bytes: Buffer.from(
    encodeCommit(unrecorded(recorded({ ...unrecorded(commits[1] as RecordedCommit), actor: 'eve' }, 4))),
  ).toString('base64'),
});

describe('F13: an export is verified without a server', () => {
  test('whole', async () => {
    expect(await verified(whole)).toEqual([{ key, commits: 3, rev: 3, problem: null }]);
    expect(await verified([...whole, ...whole])).toHaveLength(2);
  });

  test.each<[string, readonly string[], string]>([
    ['a line is missing', [...whole.slice(0, 2), ...whole.slice(3)], 'line 3: revs 2 to 2 are missing'],
    ['the first commit is missing', [...whole.slice(0, 1), ...whole.slice(2)], 'line 2: revs 1 to 1 are missing'],
    ['the last commit is missing', [...whole.slice(0, 3), ...whole.slice(4)], 'it ends at rev 2 after 2 commits'],
    [
      'the last commit was changed',
      [
        ...whole.slice(0, 3),
        JSON.stringify({ ...JSON.parse(changed), seq: 3 }).replace(/"bytes":"[^"]*"/, `"bytes":"${changedLast}"`),
        ...whole.slice(4),
      ],
      'rev 3, its last commit, was changed',
    ],
    ['a commit was changed', [...whole.slice(0, 2), changed, ...whole.slice(3)], 'line 4: rev 2 is not the commit that rev 3'],
    [
      'two lines changed places',
      [whole[0], whole[2], whole[1], ...whole.slice(3)] as string[],
      'line 2: revs 1 to 1 are missing',
    ],
    ['the file was cut', whole.slice(0, 4), 'its end is missing'],
    ['the file was cut in a line', [...whole.slice(0, 3), (whole[3] as string).slice(0, 40)], 'line 4: it is not a line'],
    ['a commit of another session', [whole[0]?.replace(key, 'agent:main:other') ?? '', ...whole.slice(1)], 'says it belongs to'],
    ['no beginning', whole.slice(1, 2), 'it belongs to no session'],
  ])('%s', async (_, lines, problem) => {
    expect((await verified(lines))[0]?.problem).toContain(problem);
  });
});

const verify = async (file: string): Promise<string> => {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line) } as unknown as Terminal;
  const program = new Command('natter').exitOverride();
  verifyCommand(program, { terminal } as World);
  await program.parseAsync(['verify', file], { from: 'user' });
  return lines.join('\n');
};
test('natter verify tells a file that is no export of stored commits from a damaged one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-verify-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'export.jsonl');
  await expect(verify(file)).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(/^cannot read .*ENOENT/) });
  const advice = /natter-verify-\w+ is a folder; name a file that "natter export --stored --out FILE" wrote$/;
  await expect(verify(folder)).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(advice) });
  for (const text of ['', '{"type":"session"}\n{"type":"message"}\n', `${whole.slice(1).join('\n')}\n`]) {
    writeFileSync(file, text);
    const advice = /no session begins in it, so it is a transcript, or was cut; .*natter export --stored/;
    await expect(verify(file)).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(advice) });
  }
  writeFileSync(file, `${whole.join('\n')}\n`);
  expect(await verify(file)).toBe(`whole    ${key}  3 commits, up to rev 3`);
});

const python = spawnSync('python3', ['--version']).status === 0;
if (!python) process.stderr.write('SKIPPED: the check in docs/integrate/exports.md needs python3\n');

test.skipIf(!python)('F13: the check in docs/integrate/exports.md agrees, in at most fifty lines', () => {
  const [, program = ''] = /```python\n(.*?)```/s.exec(readFileSync('docs/integrate/exports.md', 'utf8')) ?? [];
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(50);
  const folder = mkdtempSync(join(tmpdir(), 'natter-verify-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'export.jsonl');
  const check = (lines: readonly string[]): string => {
    writeFileSync(file, `${lines.join('\n')}\n`);
    const { status, stdout, stderr } = spawnSync('python3', ['-c', program, file], { encoding: 'utf8' });
    return `${status}: ${stdout}${stderr}`.trim();
  };
  expect(check(whole)).toBe(`0: ${key}: 3 commits, whole`);
  expect(check([...whole.slice(0, 2), ...whole.slice(3)])).toBe(`1: ${key}: broken at ${commits[2]?.seq}`);
  expect(check([...whole.slice(0, 2), changed, ...whole.slice(3)])).toBe(`1: ${key}: broken at ${commits[2]?.seq}`);
  expect(check(whole.slice(0, 4))).toBe(`1: ${key}: its end is missing`);
  expect(check([...whole.slice(0, 3), ...whole.slice(4)])).toBe(`1: ${key}: wrong end`);
});
