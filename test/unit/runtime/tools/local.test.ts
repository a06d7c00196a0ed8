import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTools } from '../../../../services/session/tools/create.ts';
import { localTools } from '../../../../services/session/tools/local.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { approvalRequest } from '../../../../shared/domain/values/types.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { oneLine, quoted } from '../../../../shared/kit/one-line.ts';
import { calling, parsed, scope } from './calling.ts';

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'natter-test-'));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const under = (config: object) => {
  const parsedConfig = configSchema.parse(config);
  const { events } = openInMemory({ clock: systemClock });
  return localTools({ config: parsedConfig, env: { PATH: process.env.PATH }, events, clock: systemClock });
};
const names = (config: object) =>
  under(config)
    .of(scope)
    .map(({ name }) => name)
    .sort();
const everything = () => ({ agent: { workspace }, tools: { exec: { enabled: true }, web: { hosts: ['example.org'] } } });

describe('which tools there are', () => {
  test('I12: nothing that reaches anything, unless it is configured', () => {
    expect(names({})).toEqual(['read_output']);
  });
  test('each by its part of the configuration', () => {
    expect(names({ agent: { workspace } })).toEqual(['list_files', 'read_file', 'read_output', 'write_file']);
    expect(names({ agent: { workspace, workspaceAccess: 'read-only' } })).toEqual(['list_files', 'read_file', 'read_output']);
    expect(names({ tools: { exec: { enabled: true } } })).toEqual(['exec', 'read_output']);
    expect(names({ tools: { web: { hosts: ['example.org'] } } })).toEqual(['read_output', 'web_fetch']);
  });
  test('A5/62: what is usual: only programs are asked about, each time', () => {
    const usual = under(everything())
      .of(scope)
      .map(({ name, usual, onceOnly, idempotent }) => [name, usual, onceOnly ?? false, idempotent]);
    expect(usual.sort()).toEqual([
      ['exec', 'ask', true, false],
      ['list_files', 'allow', false, true],
      ['read_file', 'allow', false, true],
      ['read_output', 'allow', false, true],
      ['web_fetch', 'allow', false, true],
      ['write_file', 'allow', false, true],
    ]);
  });
  test('a workspace that is not there is made where tools may write, and else it is a problem', () => {
    writeFileSync(join(workspace, 'file'), '');
    expect(under({ agent: { workspace: join(workspace, 'a', 'new') } }).problems()).toEqual([]);
    const missing = { workspace: join(workspace, 'none'), workspaceAccess: 'read-only' };
    for (const agent of [missing, { workspace: join(workspace, 'file') }]) {
      expect(under({ agent }).problems()).toEqual([expect.stringMatching(/^agent\.workspace: there is no folder ".*"; make it/)]);
    }
    expect(under({ agent: { workspace } }).problems()).toEqual([]);
  });
  test('I12: a workspace with the data folder in it is refused from the start: the tokens are there', () => {
    const dataDir = join(workspace, 'data');
    mkdirSync(dataDir);
    symlinkSync(workspace, join(workspace, 'data', 'link'));
    const refused = expect.objectContaining({ code: 'invalid', field: 'agent.workspace' });
    for (const place of [workspace, dataDir, `${dataDir}/`, join(dataDir, 'link')]) {
      expect(() => under({ agent: { workspace: place }, dataDir })).toThrow(refused);
    }
    for (const place of [join(dataDir, 'workspace'), `${dataDir}-2`]) {
      expect(() => under({ agent: { workspace: place }, dataDir })).not.toThrow();
    }
  });
  test.each([
    [{ exec: { enabled: true, environment: ['LD_PRELOAD'] } }, 'tools.exec.environment[0]'],
    [{ web: { hosts: ['example.org', '*'] } }, 'tools.web.hosts[1]'],
  ])('%j is refused from the start', (tools, field) => {
    expect(() => under({ tools })).toThrow(
      expect.objectContaining({ code: 'invalid', field, message: expect.stringMatching(/; (use|remove)/) }),
    );
  });
});

test('A11/125: who closes the tools ends their calls, and waits for them', async () => {
  const tools = createTools([under(everything())], configSchema.parse({}));
  const command = [process.execPath, '-e', 'setTimeout(() => {}, 15000)'];
  const rejected = expect(calling(tools.of(scope))('exec', { command })).rejects.toThrow('the tools are closed');
  await tools.close();
  await rejected;
  await expect(calling(tools.of(scope))('exec', { command })).rejects.toThrow('the tools are closed');
});

describe('what a model is told', () => {
  test('the arguments of each tool, and that there are no others', () => {
    for (const { name, parameters, description } of under(everything()).of(scope)) {
      expect(parameters, name).toMatchObject({ type: 'object', properties: expect.any(Object), additionalProperties: false });
      expect(parameters, name).not.toHaveProperty('$schema');
      expect(JSON.parse(JSON.stringify(parameters)), name).toEqual(parameters);
      expect(description.length, name).toBeGreaterThan(20);
      for (const argument of Object.values(parameters.properties as Record<string, object>)) {
        expect(argument, name).toHaveProperty('description');
      }
    }
  });
});

describe('I7: what a person is told who is asked', () => {
  const lineOf = (name: string, given: unknown): string => {
    const tool = under(everything())
      .of(scope)
      .find((candidate) => candidate.name === name);
    return tool?.describe(given) ?? '';
  };
  test.each([
    [
      'exec',
      '{"command":["git","push","--force, please","a\\"b"]}',
      'run ["git","push","--force, please","a\\"b"] in the workspace',
    ],
    ['read_file', '{"path":"a b"}', 'read the file "a b"'],
    ['list_files', '{}', 'list the folder "."'],
    ['write_file', '{"path":"a","content":"ä\\n"}', 'write 3 bytes to the file "a": "ä\\n"'],
    ['web_fetch', '{"url":"https://example.org/"}', 'fetch "https://example.org/" from the web'],
    ['read_output', '{"callId":"t1.1.0","page":2}', 'read page 2 of the output of the call "t1.1.0"'],
    ['exec', '{"command":"rm"}', expect.stringMatching(/^exec, which will fail: command: /)],
    ['exec', '{"__proto__":{"command":["rm"]}}', expect.stringMatching(/^exec, which will fail: /)],
    ['exec', 'null', expect.stringMatching(/^exec, which will fail: /)],
  ])('%s %s', (name, json, line) => {
    expect(lineOf(name, parsed(json))).toEqual(line);
  });
  test.each([
    ['{"command":"rm"}', expect.stringMatching(/^wrong arguments: command: /)],
    ['{"command":["rm"]}', null],
  ])('the fault in the arguments is known before anybody is asked: %s', (json, fault) => {
    const tool = under(everything())
      .of(scope)
      .find(({ name }) => name === 'exec');
    expect(tool?.faultIn?.(parsed(json))).toEqual(fault);
  });
  test('one line, of bounded length, that hides and reorders nothing', () => {
    const hostile = `\u001b[2K\r\n\u202eevil\u2066\u200b\u2028\u0085\ufeff\ud800\u00a0\u3000`;
    for (const command of [
      [hostile.repeat(3_000)],
      ['rm', ...Array(255).fill(hostile)],
      ['sh', '-c', `${'x'.repeat(100_000)}; rm -rf /`],
    ]) {
      const line = lineOf('exec', { command });
      expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u);
      expect(line.length).toBeLessThan(1_600);
      expect(approvalRequest.shape.action.safeParse(line).success).toBe(true);
    }
    expect(lineOf('exec', { command: ['sh', '-c', `${'x'.repeat(100_000)}; rm -rf /`] })).toMatch(
      /^run \["sh","-c","x+ … [\d]+ characters … x+; rm -rf \/"\] in the workspace$/,
    );
    const unknown = { [hostile.repeat(1_000)]: 1, [`b${hostile}`]: 2 };
    expect(lineOf('exec', { command: ['a'], ...unknown }).length).toBeLessThan(1_600);
  });
  test.each([
    ['plain ä 漢 🙂', 'plain ä 漢 🙂'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\nb\tc', 'a\\u{a}b\\u{9}c'],
    ['a\ud800b', 'a\\u{d800}b'],
    ['\u00a0', '\\u{a0}'],
  ])('%j is shown as %s', (text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });
  test('the quotation marks are those of the text', () => {
    expect(quoted('a" in the workspace')).toBe('"a\\" in the workspace"');
    expect(quoted('\\u{202e}')).toBe('"\\\\u{202e}"');
  });
});
