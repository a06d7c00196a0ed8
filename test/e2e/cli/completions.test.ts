import { execFile, spawnSync } from 'node:child_process';
import { describe, expect, test, vi } from 'vitest';
import { approvalsCommand } from '../../../services/cli/commands/approvals-and-memory/approvals.ts';
import { serviceCommand } from '../../../services/cli/commands/run/service.ts';
import { inspectCommand } from '../../../services/cli/commands/sessions/inspect.ts';
import { tailCommand } from '../../../services/cli/commands/sessions/tail.ts';
import { completionsCommand } from '../../../services/cli/commands/setup/completions.ts';
import { gatewayCommand } from '../../../services/cli/commands/talk/gateway.ts';
import { sendCommand } from '../../../services/cli/commands/talk/send.ts';
import { callerOf, pathOf, startWorld } from '../gateway/setup.ts';
import { natter } from './natter.ts';

const commands = [sendCommand, approvalsCommand, gatewayCommand, tailCommand, inspectCommand, serviceCommand, completionsCommand];
const nobody = 'http://127.0.0.1:1';
const script = async (shell: string): Promise<string> => {
  const running = natter(nobody, commands, 'completions', shell);
  await running.done;
  return running.out.join('\n');
};
/** What is offered at the end of a command line. */
const offered = async (line: string, url = nobody): Promise<string[]> => {
  const running = natter(
    url,
    commands,
    'completions',
    'words',
    '--',
    '--url',
    url,
    '--token',
    'a-token-for-tests',
    ...line.split(' '),
  );
  await running.done;
  return running.out.map((each) => each.split('\t')[0] ?? '');
};

describe('natter completions', () => {
  test.each([
    ['', ['send', 'approvals', 'gateway', 'tail', 'inspect', 'service', 'completions', 'help']],
    ['ga', ['gateway']],
    ['gateway ', ['call', 'help']],
    ['approvals re', ['resolve']],
    ['approvals resolve ID --', ['--reason', '--session', '--json', '--help', '--url', '--token', '--token-file']],
    ['approvals --js', ['--json']],
    ['approvals resolve ID ', ['allow-once', 'allow-always', 'deny']],
    ['tail --f', ['--from']],
    ['inspect agent:main:main --f', ['--follow']],
    ['--tok', ['--token', '--token-file']],
    ['service s', ['session']],
    ['completions ', ['bash', 'zsh', 'fish']],
    ['send main hel', []],
    ['tail --from ', []],
    ['tail --no-such ', []],
    ['no-such-command ', []],
  ])('after "natter %s" come %j', async (line, expected) => expect(await offered(line)).toEqual(expected));

  test('session keys are asked for at the gateway that the line names; where there is none nothing is offered', async () => {
    const { gateway } = await startWorld();
    const call = callerOf(gateway.url);
    for (const key of ['agent:main:main', 'agent:main:irc:group:#x']) await call('POST', pathOf(key, '/open'));
    const keys = ['agent:main:irc:group:#x', 'agent:main:main'];
    await vi.waitFor(async () => expect(await offered('send ', gateway.url)).toEqual(keys));
    expect(await offered('tail --key agent:main:i', gateway.url)).toEqual(['agent:main:irc:group:#x']);
    expect(await offered('approvals resolve ID deny --session agent:main:m', gateway.url)).toEqual(['agent:main:main']);
    expect(await offered('inspect agent:main:m', gateway.url)).toEqual(['agent:main:main']);
    expect(await offered('send ')).toEqual([]);
  });

  test('approvals that wait are offered with what would run', async () => {
    const answer = Response.json({ approvals: [{ approvalId: 'k3x9', action: 'run exec' }], next: null });
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => answer);
    expect(await offered('approvals resolve ')).toEqual(['k3x9']);
    vi.restoreAllMocks();
  });

  test.each(['bash', 'zsh', 'fish'])('the script for %s is one that this shell reads', async (shell) => {
    expect(await script(shell)).toContain('completions words -- ');
    const known = spawnSync(shell, ['--version']).status === 0;
    if (known)
      expect(spawnSync(shell, ['-n'], { input: await script(shell), encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  test('bash: words of the line go to natter, and colons do not split a key', async () => {
    const program = `natter() { [[ "$*" == "completions words -- send agent:main:" ]] && printf '%s\\t%s\\n' agent:main:main '' 'agent:main:a b' 'a text'; }
${await script('bash')}
COMP_LINE='natter send agent:main:' COMP_POINT=23
_natter natter
printf '[%s]' "\${COMPREPLY[@]}"`;
    const stdout = await new Promise((resolve) => execFile('bash', ['-c', program], (_, text) => resolve(text)));
    expect(stdout).toBe('[main][a b]');
  });

  test('another shell is refused, with those there are', async () => {
    await expect(natter(nobody, commands, 'completions', 'tcsh').done).rejects.toThrow(/bash, zsh, fish/);
  });
});
