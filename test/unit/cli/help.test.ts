import { readdirSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../services/cli/commands/program.ts';
import type { World } from '../../../services/cli/terminal.ts';

const create = (args: readonly string[] = []): Promise<Command> => createProgram({ version: '1.2.3' } as World, args);
/** The commands that help shows below this one, without `help` itself. */
const visible = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help');
const withChildren = (command: Command): Command[] => [command, ...visible(command).flatMap(withChildren)];
const nameOf = (command: Command): string => (command.parent ? [nameOf(command.parent), command.name()].join(' ').trim() : '');
const helpOf = (command: Command): string => {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
};
const exampleOf = (command: Command): string | undefined => /\nExample:\n {2}natter (.+)\n/.exec(helpOf(command))?.[1];
/** Words as a shell splits them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');

describe('natter --help', () => {
  const titles = ['Run:', 'Talk:', 'Sessions:', 'Approvals & memory:', 'Skills:', 'Operate:', 'Set up:'];

  test('has every command in one of its groups', async () => {
    const program = await create();
    expect([...new Set(visible(program).map((command) => command.helpGroup()))]).toEqual(titles);
    const help = helpOf(program);
    for (const title of titles) expect(help).toContain(`\n${title}\n`);
    expect(help).not.toContain('\nCommands:\n');
  });

  test('has as many groups as commands/ has folders', () => {
    const entries = readdirSync(new URL('../../../services/cli/commands', import.meta.url), { withFileTypes: true });
    expect(entries.filter((entry) => entry.isDirectory())).toHaveLength(titles.length);
  });
});

describe('every command', async () => {
  const names = visible(await create())
    .flatMap(withChildren)
    .map(nameOf);
  const found = (program: Command, name: string): Command => {
    const command = withChildren(program).find((each) => nameOf(each) === name);
    if (!command) throw new Error(`no command ${name}`);
    return command;
  };

  test('is among those that are looked at', () =>
    expect(names).toEqual(expect.arrayContaining(['up', 'token rotate', 'inspect'])));

  test.each(names)('natter %s has an example of itself, and it parses', async (name) => {
    const program = await create();
    const line = exampleOf(found(program, name));
    expect(line).toMatch(new RegExp(`^${name}( |$)`));
    const run: string[] = [];
    for (const command of withChildren(program)) command.action(() => void run.push(nameOf(command)));
    await program.parseAsync(wordsOf(line ?? ''), { from: 'user' });
    expect(run).toEqual([expect.stringMatching(new RegExp(`^${name}`))]);
  });

  test.each(names)('natter %s says what it does in one line that fits', async (name) => {
    const description = found(await create(), name).description();
    expect(description).toMatch(/^[a-z].{5,}[^.]$/);
    expect(description.length).toBeLessThanOrEqual(110);
  });

  test('an example that does not fit the command would be noticed', async () => {
    const program = await create();
    for (const command of withChildren(program)) command.action(() => {}).configureOutput({ writeErr: () => {} });
    await expect(program.parseAsync(['send', '--no-such-option'], { from: 'user' })).rejects.toThrow(/unknown option/);
    await expect(program.parseAsync(['approvals', 'resolve', 'ID', 'perhaps'], { from: 'user' })).rejects.toThrow(/allow-once/);
  });

  test('is loaded alone when the arguments name it, whatever stands before it', async () => {
    const loaded = async (...args: string[]): Promise<string[]> => visible(await create(args)).map(nameOf);
    const all = await loaded();
    expect(await loaded('send', 'main', 'export')).toEqual(['send']);
    expect(await loaded('--url', 'export', '--token', 'x', 'dead-letters', '--json')).toEqual(['dead-letters']);
    for (const args of [['--help'], ['help', 'send'], ['sedn'], ['constructor'], ['--unknown', 'send'], ['completions', 'words']])
      expect(await loaded(...args), args.join(' ')).toEqual(all);
  });

  test('is found under the name it is loaded by', async () => {
    for (const name of visible(await create()).map(nameOf))
      expect(visible(await create([name])).length, name).toBe(name === 'completions' ? visible(await create()).length : 1);
  });
});
