import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Command } from 'commander';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { approvalsCommand } from '../../../services/cli/commands/approvals-and-memory/approvals.ts';
import { statusCommand } from '../../../services/cli/commands/operate/status.ts';
import { compactCommand } from '../../../services/cli/commands/sessions/compact.ts';
import { sendCommand } from '../../../services/cli/commands/talk/send.ts';
import type { Terminal, World } from '../../../services/cli/terminal.ts';
import { afterwards, pathOf, token } from '../gateway/setup.ts';
import { startWhole } from '../system/whole.ts';

const key = 'agent:main:main';
const call = '[[tool write_file {"path":"note.md","content":"one"}]]';

afterEach(() => {
  process.exitCode = undefined;
});

/** All services, a call that waits for a person, and `natter …` in this process, which resolves with what it prints. */
const startWaiting = async (text: string = call, exec: object = {}) => {
  const workspace = mkdtempSync(join(tmpdir(), 'natter-cli-'));
  afterwards(() => rm(workspace, { recursive: true, force: true }));
  const whole = await startWhole({
    more: { agent: { workspace }, tools: { exec, rules: [{ tool: 'write_file', action: 'ask' }] } },
  });
  const url = whole.gateways[0]?.url ?? '';
  const natter = async (...given: readonly string[]): Promise<string> => {
    const lines: string[] = [];
    const out = (line: string) => lines.push(stripVTControlCharacters(line));
    const terminal = { out, note: out } as unknown as Terminal;
    const world = { env: {}, home: '/nonexistent', terminal, timeZone: 'UTC', now: () => Date.now() } as unknown as World;
    const program = new Command('natter').option('--url <url>').option('--token <token>').exitOverride();
    for (const add of [approvalsCommand, compactCommand, sendCommand, statusCommand]) add(program, world);
    await program.parseAsync(['node', 'natter', '--url', url, '--token', token, ...given]);
    return lines.join('\n');
  };
  const { body } = await whole.as.owner('POST', pathOf(key, '/messages'), { body: { text } });
  const run = async (wait = '') => (await whole.as.owner('GET', pathOf(key, `/runs/${body.runId}${wait}`))).body;
  await vi.waitFor(async () => expect((await run()).status).toBe('awaiting_approval'));
  const { approvalId } = await run();
  await vi.waitFor(async () => expect(await natter('approvals', 'list')).toContain(approvalId));
  return { natter, approvalId: String(approvalId), run, written: () => readFileSync(join(workspace, 'note.md'), 'utf8') };
};

describe('natter approvals', () => {
  test('A5/62: lists what waits and since when, as does natter status', async () => {
    const { natter, approvalId } = await startWaiting();
    const row = new RegExp(`^${approvalId} +(now|\\d+s) +${key} +\\S.*note\\.md`, 'm');
    expect(await natter('approvals', 'list')).toMatch(row);
    expect(await natter('status')).toMatch(row);
    expect(await natter('status')).toMatch(/^waits +1 approval, the oldest/m);
    expect(JSON.parse(await natter('status', '--json'))).toMatchObject({ approvals: [{ approvalId, sessionKey: key }] });
    expect(JSON.parse(await natter('approvals', 'list', '--json'))).toMatchObject({
      approvals: [{ approvalId, tool: 'write_file', asks: 'run' }],
    });
  });

  test('natter send --wait says that its message waits behind a call that awaits approval', async () => {
    const { natter } = await startWaiting();
    expect(await natter('send', key, 'and now?', '--wait', '1')).toMatch(
      new RegExp(
        `^no answer yet; run \\S+ goes on\\. .*natter chat ${key}.*\\n${key} waits until a tool call is approved or denied: natter approvals$`,
      ),
    );
  });

  test('natter send --wait says so while it waits, once', async () => {
    const { natter } = await startWaiting();
    expect(await natter('send', key, 'and now?', '--wait', '5')).toMatch(
      new RegExp(
        `^${key} waits until a tool call is approved or denied: natter approvals\nno answer yet; run \\S+ goes on\\.[^\n]*$`,
      ),
    );
  });

  test('A5/62: resolve lets the call run', async () => {
    const { natter, approvalId, run, written } = await startWaiting();
    expect(await natter('approvals', 'resolve', approvalId, 'allow-once')).toBe(
      `allow-once for ${approvalId} is recorded; the session is ${key}`,
    );
    expect(await run('?wait=10')).toMatchObject({ status: 'ok', reply: expect.stringContaining('write_file → wrote') });
    expect(written()).toBe('one');
    await vi.waitFor(async () => expect(await natter('approvals', 'list')).toBe('no pending approvals'));
    const again = natter('approvals', 'resolve', approvalId, 'deny', '--session', 'main');
    await expect(again).rejects.toMatchObject({
      code: 'approval_resolved',
      message: expect.stringContaining('granted by the owner, over the API'),
    });
  });

  test('A5/62: resolve says where "always" counts as once', async () => {
    const { natter, approvalId } = await startWaiting('[[tool exec {"command":["true"]}]]', { enabled: true });
    expect(await natter('approvals', 'resolve', approvalId, 'allow-always')).toMatch(/\nit counts as allow-once: .* asks again$/);
  });

  test('A5/62: or not, with a reason that the model is told', async () => {
    const { natter, approvalId, run } = await startWaiting();
    const answered = await natter('approvals', 'resolve', approvalId.toUpperCase(), 'deny', '--reason', 'not today', '--json');
    expect(JSON.parse(answered)).toMatchObject({ approvalId, verdict: 'deny', outcome: 'accepted' });
    expect((await run('?wait=10')).reply).toMatch(/write_file → denied: .*not today/);
  });

  test.each([
    [['nothing', 'allow-once'], { code: 'approval_unknown', status: 404 }],
    [['nothing', 'maybe'], { code: 'commander.invalidArgument', message: expect.stringMatching(/verdict.*allow-once/) }],
  ])('A5/62: what cannot be is said: %j', async (given, expected) => {
    const { natter } = await startWaiting();
    await expect(natter('approvals', 'resolve', ...given)).rejects.toMatchObject(expected);
  });
});

test('A11/126: natter compact waits its turn and says what became of it', async () => {
  const { natter, approvalId } = await startWaiting();
  const compacted = natter('compact', key, '--instructions', 'keep names');
  await natter('approvals', 'resolve', approvalId, 'deny');
  expect(await compacted).toMatch(/compacted/i);
  await expect(natter('compact', 'cli:nobody')).rejects.toMatchObject({ code: 'not_found' });
});
