import { stripVTControlCharacters } from 'node:util';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { tokenCommand } from '../../../services/cli/commands/setup/token.ts';
import type { Terminal, World } from '../../../services/cli/terminal.ts';
import { startReplicas } from '../gateway/access/token-rig.ts';
import { token as own } from '../gateway/setup.ts';

/** `natter token …` in this process against a gateway; resolves with what it prints, and what it says beside it. */
const start = async () => {
  const replicas = await startReplicas();
  const natter = async (...given: readonly string[]) => {
    const [printed, noted]: [string[], string[]] = [[], []];
    const terminal = {
      out: (line: string) => printed.push(stripVTControlCharacters(line)),
      note: (line: string) => noted.push(stripVTControlCharacters(line)),
    } as unknown as Terminal;
    const world = { env: {}, home: '/nonexistent', terminal, timeZone: 'UTC', now: () => Date.now() } as unknown as World;
    const program = new Command('natter').option('--url <url>').option('--token <token>').exitOverride();
    tokenCommand(program, world);
    await program.parseAsync(['node', 'natter', '--url', replicas.urls[0], '--token', own, 'token', ...given]);
    return { out: printed.join('\n'), note: noted.join('\n') };
  };
  return { ...replicas, natter };
};

describe('natter token', () => {
  test('prints a token once, alone on standard output; lists it; takes it back', async () => {
    const { natter, as } = await start();
    expect((await natter('list')).note).toContain('natter token create');
    const { out: made, note } = await natter(
      'create',
      '--role',
      'channel',
      '--namespace',
      'irc',
      '--expires',
      '30d',
      '--label',
      'a bot',
    );
    const id = made.split('.')[0] as string;
    expect(made).toMatch(/^[a-z0-9]{12}\.natter_[\w-]{43}$/);
    expect(note).toContain(`natter token revoke ${id}`);
    expect(note).not.toContain('natter_');
    expect((await as(made)('GET', '/v1/sessions')).status).toBe(200);
    const { out: list } = await natter('list');
    expect(list).toMatch(new RegExp(`^${id} +channel +irc +active +now +20\\d\\d-\\S+ +a bot$`, 'm'));
    expect(list).not.toContain('natter_');
    // All of the token where its id is wanted: the secret is not sent.
    expect((await natter('revoke', made)).out).toBe(`token ${id} is revoked`);
    expect((await as(made)('GET', '/v1/sessions')).status).toBe(401);
    const { tokens } = JSON.parse((await natter('list', '--json')).out);
    expect(tokens).toMatchObject([{ id, status: 'revoked' }]);
  });

  test('rotates with an overlap', async () => {
    const { natter, as } = await start();
    const { out: before } = await natter('create', '--role', 'owner');
    const rotated = JSON.parse((await natter('rotate', before.split('.')[0] as string, '--overlap', '5', '--json')).out);
    expect(rotated.oldSecretUntil).toBeGreaterThan(Date.now() + 240_000);
    for (const bearer of [before, rotated.token]) expect((await as(bearer)('GET', '/v1/sessions')).status).toBe(200);
  });

  const wrong: readonly [given: readonly string[], message: RegExp][] = [
    [['create', '--role', 'god'], /role/],
    [['create', '--role', 'participant'], /principal: is missing/],
    [['create', '--role', 'owner', '--expires', 'soon'], /is not a time/],
    [['create', '--role', 'owner', '--expires', '2001-01-01'], /in the past/],
    [['revoke', 'nothing'], /no such token/],
    [['revoke', '../tickets'], /is not a token id/],
    [['rotate', 'x', '--overlap', '-1'], /whole number/],
  ];
  test.each(wrong)('says what is wrong: %j', async (given, message) => {
    const { natter } = await start();
    await expect(natter(...given)).rejects.toThrow(message);
  });
});
