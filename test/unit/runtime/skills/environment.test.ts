import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { execTool } from '../../../../services/session/tools/exec.ts';
import { fileTools } from '../../../../services/session/tools/files.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { configJsonSchema, withoutSecrets } from '../../../../shared/domain/config/schema-text.ts';
import type { Skill } from '../../../../shared/domain/skills/skill.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { ToolEnd } from '../../../../shared/ports/tools.ts';
import { loadConfig, secretsOf } from '../../../../shared/runtime/config/load.ts';
import { skillEnvironment } from '../../../../shared/runtime/skills/environment.ts';
import { calling, scope } from '../tools/calling.ts';
import { skillOf, type TemporaryFolder, temporaryFolder } from './folders.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const entriesOf = (entries: object) => configSchema.parse({ skills: { entries } }).skills.entries;
const search = skillOf('search', { primaryEnv: 'SEARCH_KEY' });

describe('A15/162: what a skill is given', () => {
  const given = (skills: Skill[], entries: object, env: Record<string, string> = {}) =>
    skillEnvironment(skills, entriesOf(entries), env);
  test.each([
    ['nothing', {}, {}, {}],
    ['its variables', { search: { env: { REGION: 'eu' } } }, {}, { REGION: 'eu' }],
    ['A15/158: the key under its name', { search: { apiKey: 'k-1' } }, {}, { SEARCH_KEY: 'k-1' }],
    ['B31: a key from a variable of ours', { search: { apiKey: { env: 'OURS' } } }, { OURS: 'k-2' }, { SEARCH_KEY: 'k-2' }],
    ['none, if that is not set', { search: { apiKey: { env: 'OURS' } } }, { SEARCH_KEY: 'x' }, {}],
    [
      'the key before a variable of its name',
      { search: { apiKey: 'k-1', env: { SEARCH_KEY: 'k-3' } } },
      {},
      { SEARCH_KEY: 'k-1' },
    ],
    ["nothing of another skill's", { other: { apiKey: 'k-1', env: { A: '1' } } }, {}, {}],
    ['nothing of the prototype', {}, {}, {}],
  ])('%s', (_, entries, env, expected) => expect(given([search], entries, env as Record<string, string>)).toEqual(expected));

  test('of two skills that set one variable the first counts', () => {
    const entries = { a: { env: { K: '1', A: '1' } }, b: { env: { K: '2', B: '2' } } };
    expect(given([skillOf('a'), skillOf('b')], entries)).toEqual({ K: '1', A: '1', B: '2' });
  });
  test.each([
    'LD_PRELOAD',
    'NODE_OPTIONS',
    'DYLD_INSERT_LIBRARIES',
    'PYTHONPATH',
    'BASH_ENV',
    'ENV',
    'GIT_SSH_COMMAND',
    'PATH',
    'HOME',
  ])('I12: a skill cannot have its key put into %s', (name) =>
    expect(given([skillOf('a', { primaryEnv: name })], { a: { apiKey: 'k-1' } })).toEqual({}),
  );
  test.each(['LD_PRELOAD', 'NODE_OPTIONS', 'PYTHONPATH', 'BASH_ENV', 'GIT_SSH', 'PATH', 'HOME', 'NATTER_TOKEN', 'a b'])(
    'I12: the configuration cannot give it %s',
    (name) => {
      const result = configSchema.safeParse({ skills: { entries: { a: { env: { [name]: 'x' } } } } });
      expect(result.error?.issues[0]).toMatchObject({ path: ['skills', 'entries', 'a', 'env', name] });
    },
  );
});

describe('A15/162: programs', () => {
  const print = { command: [process.execPath, '-e', 'setTimeout(() => console.log(JSON.stringify(process.env)), 200)'] };
  const exec = (entries: object, { env = {}, environment = [] as string[] } = {}) =>
    execTool({
      exec: { enabled: true, environment, timeoutMs: 20_000 },
      env: { PATH: process.env.PATH, ...env },
      clock: systemClock,
      skills: entriesOf(entries),
    });
  const run = (tool: ReturnType<typeof exec>, skills: readonly Skill[], given: object = print): Promise<ToolEnd> =>
    tool.run({ callId: 't1.1.0', arguments: given, scope: { ...scope, skills } }, new AbortController().signal);
  const seen = async (end: Promise<ToolEnd>): Promise<Record<string, string>> =>
    JSON.parse((await end).text.split('\n')[1] ?? '');

  test('two sessions with different keys for one skill run at the same time, and neither sees the key of the other', async () => {
    const before = { ...process.env };
    const [one, other, none] = await Promise.all([
      seen(run(exec({ search: { apiKey: '1', env: { WHO: 'one' } } }), [search])),
      seen(run(exec({ search: { apiKey: '2', env: { WHO: 'other' } } }), [search])),
      seen(run(exec({ search: { apiKey: '3' } }), [])),
    ]);
    expect(one).toMatchObject({ SEARCH_KEY: '1', WHO: 'one' });
    expect(other).toMatchObject({ SEARCH_KEY: '2', WHO: 'other' });
    expect(none).not.toHaveProperty('SEARCH_KEY');
    expect(process.env).toEqual(before);
  });
  test("what the agent's programs have already stays", async () => {
    const tool = exec({ search: { apiKey: '1' } }, { env: { SEARCH_KEY: '0' }, environment: ['SEARCH_KEY'] });
    expect(await seen(run(tool, [search]))).toMatchObject({ SEARCH_KEY: '0', PATH: process.env.PATH });
  });
  test('I12: a key that a program prints is hidden from the model', async () => {
    const key = 'very-secret-key';
    const code = 'const key = process.env.SEARCH_KEY; console.log(key, Buffer.from(key).toString("base64"), "the end")';
    const end = await run(exec({ search: { apiKey: key } }), [search], { command: [process.execPath, '-e', code] });
    expect(end).toEqual({ outcome: 'ok', text: '[exit code 0]\n[secret] [secret] the end\n' });
  });
});

test('I12: keys of skills are secrets of the configuration', () => {
  const file = folder.write(
    'natter.json',
    '{ skills: { managedDir: "mine", load: { extraDirs: ["~/x"] }, plugins: { p: { path: "p" } }, entries: { a: { apiKey: "key-of-a", env: { B: "value-b" }, config: { c: "d" } }, e: { apiKey: { env: "F" } } } } }',
  );
  const config = loadConfig({ file, env: {}, home: '/users/ann' });
  expect(secretsOf(config, { F: 'value-f' }).sort()).toEqual(['key-of-a', 'value-b', 'value-f']);
  const shown = JSON.stringify(withoutSecrets(config));
  for (const secret of ['key-of-a', 'value-b']) expect(shown).not.toContain(secret);
  expect(shown).toContain('"c":"d"');
  expect(config.skills).toMatchObject({
    managedDir: folder.at('mine'),
    load: { extraDirs: ['/users/ann/x'] },
    plugins: { p: { path: folder.at('p') } },
  });
  expect(configJsonSchema()).toBeDefined();
});

describe('A15/168: reading skills outside of the workspace', () => {
  const setUp = () => {
    folder.write('managed/a/SKILL.md', 'text of a');
    folder.write('managed/a/templates/t.md', 'template');
    folder.write('managed/ab/SKILL.md', 'text of ab');
    folder.write('work/own.md', 'own');
    folder.write('secret', 'secret');
    const skill = { ...skillOf('a'), folder: folder.at('managed/a') };
    const tools = fileTools(folder.at('work'), 'read-write');
    const call = (name: string, given: object, skills: readonly Skill[] = [skill]): Promise<ToolEnd> => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      return tool.run({ callId: 'c', arguments: given, scope: { ...scope, skills } }, new AbortController().signal);
    };
    return call;
  };
  test('a session reads the files of a skill that it has, and of no other', async () => {
    const call = setUp();
    const path = folder.at('managed/a/SKILL.md');
    expect(await call('read_file', { path })).toEqual({ outcome: 'ok', text: 'text of a' });
    expect(await call('read_file', { path: folder.at('managed/a/templates/t.md') })).toEqual({ outcome: 'ok', text: 'template' });
    expect(await call('read_file', { path: 'own.md' })).toEqual({ outcome: 'ok', text: 'own' });
    const others = ['managed/ab/SKILL.md', 'secret', 'managed/a/../../secret', 'managed/a', 'work/own.md'];
    for (const other of others) {
      expect((await call('read_file', { path: `${folder.path}/${other}` })).outcome, other).toBe('error');
    }
    expect((await call('read_file', { path }, [])).outcome).toBe('error');
  });
  test('nobody writes or lists there', async () => {
    const call = setUp();
    expect((await call('write_file', { path: folder.at('managed/a/SKILL.md'), content: 'x' })).outcome).toBe('error');
    expect((await call('list_files', { path: folder.at('managed/a') })).outcome).toBe('error');
    expect((await calling(fileTools(folder.at('work'), 'read-only'))('read_file', { path: folder.at('secret') })).outcome).toBe(
      'error',
    );
  });
});
