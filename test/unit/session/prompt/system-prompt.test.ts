import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SystemPrompts } from '../../../../services/session/prompt/system-prompt.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { keyOf } from '../../../support/domain/commits.ts';

let folder = '';
let workspace = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'natter-prompt-'));
  workspace = join(folder, 'workspace');
  await mkdir(workspace);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const put = (name: string, text: string) => writeFile(join(workspace, name), text);
const config = (agent: object = {}) => configSchema.parse({ agent: { systemPrompt: 'Be brief.', workspace, ...agent } });
const toolOf = (name: string) => ({ name, description: 'd', parameters: { type: 'object' } });

const owners = { key: keyOf('agent:main:main'), sender: { id: '7', role: 'owner' } } as const;

describe('the system prompt', () => {
  test('A11/124: is the configured one and the files of the workspace, with the size of each part', async () => {
    await put('MEMORY.md', 'She likes tea.\n');
    await put('AGENTS.md', '# Rules\nNo jokes.');
    await put('OTHER.md', 'not for the prompt');
    const { text, parts } = await new SystemPrompts().read(config(), [], owners);
    expect(text).toBe('Be brief.\n\n## AGENTS.md\n\n# Rules\nNo jokes.\n\n## MEMORY.md\n\nShe likes tea.');
    expect(parts).toEqual([
      { name: 'system prompt', characters: 9 },
      { name: 'AGENTS.md', characters: 31 },
      { name: 'MEMORY.md', characters: 28 },
    ]);
  });

  test('A11/124: the definitions of the tools are parts too, one for each MCP server', async () => {
    const tools = ['read_file', 'github__issues', 'github__pulls', 'exec'].map(toolOf);
    const { parts } = await new SystemPrompts().read(config({ workspace: undefined }), tools, owners);
    expect(parts.slice(1)).toEqual([
      { name: 'tools', characters: 'read_file'.length + 'exec'.length + 2 * (1 + '{"type":"object"}'.length) },
      {
        name: 'tools of github',
        characters: 'github__issues'.length + 'github__pulls'.length + 2 * (1 + '{"type":"object"}'.length),
      },
    ]);
  });

  test('needs neither a workspace nor its files', async () => {
    const plain = { text: 'Be brief.', parts: [{ name: 'system prompt', characters: 9 }] };
    for (const agent of [{}, { workspace: undefined }, { workspace: join(folder, 'nowhere') }]) {
      expect(await new SystemPrompts().read(config(agent), [], owners)).toEqual(plain);
    }
  });

  test('reads a file again when it has changed, and forgets it when it is gone', async () => {
    const prompts = new SystemPrompts();
    const read = async () => (await prompts.read(config(), [], owners)).text;
    await put('USER.md', 'Ann');
    expect(await read()).toContain('Ann');
    await put('USER.md', 'Bob');
    await utimes(join(workspace, 'USER.md'), 1, 1);
    expect(await read()).toContain('Bob');
    await rm(join(workspace, 'USER.md'));
    expect(await read()).toBe('Be brief.');
  });

  test.each([
    ['agent:main:main', 'owner', true],
    ['agent:main:telegram:dm:7', 'owner', true],
    ['agent:main:telegram:bot1:dm:7', 'owner', true],
    ['agent:main:telegram:group:-1', 'owner', false],
    ['agent:main:discord:channel:1:topic:2', 'owner', false],
    ['agent:main:global', 'owner', false],
    ['agent:main:subagent:0123-4567', 'owner', false],
    ['agent:main:main', 'participant', false],
    ['agent:main:telegram:dm:8', 'participant', false],
    ['agent:main:telegram:dm:8', undefined, false],
    ['agent:main:main', 'program', false],
  ] as const)('I12: what is about the owner: in %s for a turn of %s: %s', async (key, role, told) => {
    for (const name of ['AGENTS.md', 'USER.md', 'MEMORY.md']) await put(name, `canary of ${name}`);
    const sender = { id: '7', ...(role && { role }) };
    const { text, parts } = await new SystemPrompts().read(config(), [], { key: keyOf(key), sender });
    const names = told ? ['AGENTS.md', 'USER.md', 'MEMORY.md'] : ['AGENTS.md'];
    expect(parts.slice(1).map(({ name }) => name)).toEqual(names);
    expect(text.match(/canary of \S+/g)).toEqual(names.map((name) => `canary of ${name}`));
    expect(JSON.stringify(parts)).not.toContain('canary');
  });

  test('I12: does not follow a link out of the workspace, nor waits for a pipe or a folder', async () => {
    await writeFile(join(folder, 'secret'), 'hunter2');
    await symlink(join(folder, 'secret'), join(workspace, 'AGENTS.md'));
    await symlink('../secret', join(workspace, 'SOUL.md'));
    await promisify(execFile)('mkfifo', [join(workspace, 'TOOLS.md')]);
    await mkdir(join(workspace, 'USER.md'));
    await put('notes.md', 'within');
    await symlink('notes.md', join(workspace, 'MEMORY.md'));
    expect((await new SystemPrompts().read(config(), [], owners)).text).toBe('Be brief.\n\n## MEMORY.md\n\nwithin');
  });

  test('I11: cuts a long file at a whole character and says so, and all of them together', async () => {
    for (const name of ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'])
      await put(name, 'ü'.repeat(40_000));
    const { text } = await new SystemPrompts().read(config(), [], owners);
    const [, first = ''] = text.split('## ');
    expect(Buffer.byteLength(first)).toBeLessThanOrEqual(limits.promptFileBytes + 'AGENTS.md'.length + 4);
    expect([first.trimEnd().endsWith('ü\n[The file goes on.]'), text.includes('\ufffd')]).toEqual([true, false]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.promptFilesBytes + 500);
  });
});
