import { Command } from 'commander';
import { expect, test } from 'vitest';
import { gatewayCommand } from '../../../services/cli/commands/talk/gateway.ts';
import type { Terminal, World } from '../../../services/cli/terminal.ts';
import { startWorld, token } from '../gateway/setup.ts';

/** Runs `natter …` in this process; resolves with what it prints. */
const natter = async (...given: readonly string[]): Promise<string> => {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line) } as unknown as Terminal;
  const world = { env: {}, home: '/nonexistent', terminal, timeZone: 'UTC', now: () => Date.now() } as unknown as World;
  const program = new Command('natter').option('--url <url>').option('--token <token>').exitOverride();
  gatewayCommand(program, world);
  await program.parseAsync(['node', 'natter', ...given]);
  return lines.join('\n');
};

test.each([[[]], [['--ws']]])(
  'A12/130: natter gateway call prints the result of a method of a gateway elsewhere (%j)',
  async (by) => {
    const { gateway } = await startWorld();
    const there = ['--url', gateway.url, '--token', token, ...by];
    const send = ['gateway', 'call', 'agent', '--params', '{"sessionKey": "main", "message": "hello", "timeoutSeconds": 10}'];
    expect(JSON.parse(await natter(...send, ...there))).toMatchObject({ status: 'ok', reply: 'you said: hello' });
    expect(JSON.parse(await natter('gateway', 'call', 'sessions.list', '--params', '{}', ...there))).toHaveProperty('sessions');
    expect(JSON.parse(await natter('gateway', 'call', 'status', ...there))).toMatchObject({ status: 'ready' });
  },
);

test.each([[[]], [['--ws']]])('A12/130: what cannot be asked is said so (%j)', async (by) => {
  const { gateway } = await startWorld();
  const call = ['--url', gateway.url, '--token', token, 'gateway', 'call', ...by];
  await expect(natter(...call, 'status', '--params', '{x')).rejects.toMatchObject({ code: 'invalid' });
  await expect(natter(...call, 'status', '--params', '[1]')).rejects.toThrow('--params: "[1]" is not a JSON object');
  await expect(natter(...call, 'chat.send')).rejects.toMatchObject({
    code: 'invalid',
    message: `sessionKey: is missing; give a text, as in --params '{"sessionKey": …}'`,
  });
  await expect(natter(...call, 'no.such')).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('sessions.list'),
  });
  await expect(natter('--url', gateway.url, '--token', 'wrong', 'gateway', 'call', 'status', ...by)).rejects.toMatchObject({
    code: 'unauthorized',
  });
});
