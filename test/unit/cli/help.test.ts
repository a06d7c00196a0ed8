import { readdirSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { describe, expect, test, vi } from 'vitest';
import { createProgram } from '../../../services/cli/commands/program.ts';
import type { World } from '../../../services/cli/terminal.ts';

const create = (args?: readonly string[]): Promise<Command> => createProgram({ version: '1.2.3' } as World, args);
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

  test.each(names)('natter %s names the global options on one line, and natter --help explains each', async (name) => {
    const program = await create();
    const named = /^Global options: (.+)\n\(natter --help explains them\)$/m.exec(helpOf(found(program, name)))?.[1];
    expect(named?.split(', ')).toEqual(program.options.map(({ long }) => long).filter((long) => long !== '--version'));
    expect(helpOf(found(program, name))).not.toContain('token for the gateway (safer');
    expect(helpOf(program)).toMatch(/^ {2}--utc +print times/m);
  });

  test.each(names)('natter %s shows no default that says nothing', async (name) => {
    expect(helpOf(found(await create(), name))).not.toMatch(/\(default:\s+(\[\]|""|false)\)/);
  });

  /** Words of the glossary that the names of options and the lines of help use. */
  const termsIn = (help: string): string[] =>
    ['commit', 'dead letter', 'generation', 'rev', 'sequence'].filter((term) => new RegExp(`\\b${term}s?\\b`).test(help));
  test.each(names)('natter %s explains the words of the glossary that it uses', async (name) => {
    const [before = '', words = ''] = helpOf(found(await create(), name)).split('\nWords:\n');
    for (const term of termsIn(before)) expect(words, term).toMatch(new RegExp(`^ {2}${term} `, 'm'));
  });

  test('natter --help uses none of them but in the name of a command', async () => {
    const lines = visible(await create()).map((command) => command.description());
    expect(termsIn(lines.join('\n'))).toEqual([]);
  });

  test('natter send and compact say how long they wait at most', async () => {
    for (const name of ['send', 'compact']) expect(helpOf(found(await create(), name))).toMatch(/at most\s+120/);
  });

  test('an example that does not fit the command would be noticed', async () => {
    const program = await create();
    for (const command of withChildren(program)) command.action(() => {}).configureOutput({ writeErr: () => {} });
    await expect(program.parseAsync(['send', '--no-such-option'], { from: 'user' })).rejects.toThrow(/unknown option/);
    await expect(program.parseAsync(['approvals', 'resolve', 'ID', 'perhaps'], { from: 'user' })).rejects.toThrow(/allow-once/);
  });

  /** Those that have more than a name and a line: an option, an argument or commands of their own. */
  const loaded = async (args?: readonly string[]): Promise<string[]> =>
    visible(await create(args))
      .filter(({ options, registeredArguments, commands }) =>
        [options, registeredArguments, commands].some(({ length }) => length > 0),
      )
      .map(nameOf);
  const whole = async (): Promise<string[]> => visible(await create()).map(nameOf);

  test('is loaded alone when the arguments name it, whatever stands before it', async () => {
    expect(await loaded(['send', 'main', 'export'])).toEqual(['send']);
    expect(await loaded(['--url', 'export', '--token', 'x', 'dead-letters', '--json'])).toEqual(['dead-letters']);
    expect(await loaded(['help', 'send'])).toEqual(['send']);
    expect(await loaded(['completions', 'words'])).toEqual(await loaded());
  });

  test('is not loaded to be listed: help shows its name and its line', async () => {
    const lines = async (args?: readonly string[]) =>
      visible(await create(args)).map((each) => [nameOf(each), each.description()]);
    for (const args of [[], ['--help'], ['help'], ['sedn'], ['constructor'], ['--unknown', 'send']]) {
      expect(await loaded(args), args.join(' ')).toEqual([]);
      expect(await lines(args), args.join(' ')).toEqual(await lines());
    }
  });

  test('is found under the name it is loaded by', async () => {
    for (const name of await whole()) expect(visible(await create([name])).map(nameOf), name).toEqual(await whole());
  });
});

describe('a group that lists', async () => {
  const groups = visible(await create()).filter(({ commands }) => commands.some((each) => each.name() === 'list'));

  test('is each of these', () => {
    const names = ['scheduled', 'sessions', 'approvals', 'memory', 'skills', 'pairing', 'dead-letters', 'deliveries', 'token'];
    expect(groups.map(nameOf)).toEqual(names);
  });

  test.each(groups.map(nameOf))(
    'natter %s lists with and without the word, with the options of the list, and says so',
    async (name) => {
      for (const words of [[name], [name, 'list'], [name, '--json'], [name, 'list', '--json']]) {
        const program = await create();
        const run: string[] = [];
        for (const command of withChildren(program)) command.action(() => void run.push(nameOf(command)));
        await program.parseAsync(words, { from: 'user' });
        expect(run, words.join(' ')).toEqual([`${name} list`]);
      }
      expect(helpOf(visible(await create([name])).find((each) => nameOf(each) === name) ?? new Command())).toMatch(
        /\n {2}list \[options\] +list [\s\S]*? \(default\)\n/,
      );
    },
  );
});

describe('a command that there is not', () => {
  const said = async (...args: string[]): Promise<string> => {
    const parts: string[] = [];
    const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write'));
    for (const spy of spies) spy.mockImplementation((part) => parts.push(String(part)) > 0);
    try {
      await (await create(args)).parseAsync(args, { from: 'user' });
    } catch (error) {
      expect(error).toBeInstanceOf(CommanderError);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    return parts.join('');
  };

  test.each([
    ['stauts', 'stauts', 'status'],
    ['sesions', 'sesions', 'sessions'],
    ['help stauts', 'stauts', 'status'],
    ['help approvals lst', 'lst', 'list'],
    ['approvals lst', 'lst', 'list'],
    ['memory serach', 'serach', 'search'],
    ['approvals help lst', 'lst', 'list'],
  ])('natter %s: names it, and the nearest', async (line, name, near) => {
    expect(await said(...line.split(' '))).toMatch(
      new RegExp(`^error: unknown command '${name}'\n\\(Did you mean ${near}\\?\\)\n`),
    );
  });

  test.each([
    ['help bogus', 'bogus'],
    ['foo', 'foo'],
  ])('natter %s: names it, and none where none is near', async (line, name) => {
    expect(await said(...line.split(' '))).toBe(`error: unknown command '${name}'\n(run "natter --help" for usage)\n`);
  });

  test('natter help send extra: says that there are none below it', async () => {
    expect(await said('help', 'send', 'extra')).toBe(
      `error: unknown command 'extra'\n(send has no commands of its own)\n(run "natter send --help" for usage)\n`,
    );
  });

  test('natter approvals allow: says what there is where none is near', async () => {
    expect(await said('approvals', 'allow', 'ID')).toBe(
      `error: unknown command 'allow'\n(It has: list, resolve)\n(run "natter approvals --help" for usage)\n`,
    );
  });

  test.each([
    [
      'approvals resolve',
      `error: missing required argument 'approval'\n(approval: id of the approval, from the list)\n(run "natter approvals resolve --help" for usage)\n`,
    ],
    [
      'approvals resolve ID perhaps',
      /^error: .*'perhaps' is invalid for argument 'verdict'\. Allowed choices are allow-once, allow-always, deny; or y, a and n, /,
    ],
    [
      'send main hello there',
      /^error: too many arguments .*\n\(put the text in quotes: natter send main "hello there"\)\n\(run "natter send --help" for usage\)\n$/,
    ],
    [
      'send',
      /^error: missing required argument 'key'\n\(key: session key, such as agent:main:main\)\n\(run "natter send --help"/,
    ],
    ['gateway call', /^error: missing required argument 'method'\n\(method: the method, such as sessions.list,/],
    ['service', /\n\(name: the service; one of session, router, checkpoint, delivery, gateway\)\n/],
    ['service foo', /^error: 'foo' is invalid for argument 'name'\. Allowed choices are session, router, /],
  ])('natter %s: says what is wrong, and whose help to read', async (line, text) => {
    expect(await said(...line.split(' '))).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  });

  test.each([
    ['y', 'allow-once'],
    ['Always', 'allow-always'],
    ['no', 'deny'],
    ['allow-once', 'allow-once'],
  ])('natter approvals resolve takes "%s" for %s, as a chat does', async (word, verdict) => {
    const program = await create(['approvals', 'resolve']);
    const taken: unknown[] = [];
    const resolve = withChildren(program).find((command) => nameOf(command) === 'approvals resolve');
    resolve?.action((_: string, given: unknown) => void taken.push(given));
    await program.parseAsync(['approvals', 'resolve', 'ID', word], { from: 'user' });
    expect(taken).toEqual([verdict]);
  });

  test.each(['help approvals list', 'approvals help list'])('natter %s is the help of the last', async (line) => {
    expect(await said(...line.split(' '))).toMatch(/^Usage: natter approvals list /);
  });
});
