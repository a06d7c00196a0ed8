import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SystemPrompts } from '../../../services/session/system-prompt.ts';
import { configSchema } from '../../../shared/config/schema.ts';
import { limits } from '../../../shared/kit/limits.ts';

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

describe('the system prompt', () => {
  test('A11/124: is the configured one and the files of the workspace, with the size of each part', async () => {
    await put('MEMORY.md', 'She likes tea.\n');
    await put('AGENTS.md', '# Rules\nNo jokes.');
    await put('OTHER.md', 'not for the prompt');
    const { text, parts } = await new SystemPrompts().read(config(), []);
    expect(text).toBe('Be brief.\n\n## AGENTS.md\n\n# Rules\nNo jokes.\n\n## MEMORY.md\n\nShe likes tea.');
    expect(parts).toEqual([
      { name: 'system prompt', characters: 9 },
      { name: 'AGENTS.md', characters: 31 },
      { name: 'MEMORY.md', characters: 28 },
    ]);
  });

  test('A11/124: the definitions of the tools are parts too, one for each MCP server', async () => {
    const tools = ['read_file', 'github__issues', 'github__pulls', 'exec'].map(toolOf);
    const { parts } = await new SystemPrompts().read(config({ workspace: undefined }), tools);
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
      expect(await new SystemPrompts().read(config(agent), [])).toEqual(plain);
    }
  });

  test('reads a file again when it has changed, and forgets it when it is gone', async () => {
    const prompts = new SystemPrompts();
    const read = async () => (await prompts.read(config(), [])).text;
    await put('USER.md', 'Ann');
    expect(await read()).toContain('Ann');
    await put('USER.md', 'Bob');
    await utimes(join(workspace, 'USER.md'), 1, 1);
    expect(await read()).toContain('Bob');
    await rm(join(workspace, 'USER.md'));
    expect(await read()).toBe('Be brief.');
  });

  test('I12: does not follow a link out of the workspace, nor waits for a pipe or a folder', async () => {
    await writeFile(join(folder, 'secret'), 'hunter2');
    await symlink(join(folder, 'secret'), join(workspace, 'AGENTS.md'));
    await symlink('../secret', join(workspace, 'SOUL.md'));
    await promisify(execFile)('mkfifo', [join(workspace, 'TOOLS.md')]);
    await mkdir(join(workspace, 'USER.md'));
    await put('notes.md', 'within');
    await symlink('notes.md', join(workspace, 'MEMORY.md'));
    expect((await new SystemPrompts().read(config(), [])).text).toBe('Be brief.\n\n## MEMORY.md\n\nwithin');
  });

  test('I11: cuts a long file at a whole character and says so, and all of them together', async () => {
    for (const name of ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'])
      await put(name, 'ü'.repeat(40_000));
    const { text } = await new SystemPrompts().read(config(), []);
    const [, first = ''] = text.split('## ');
    expect(Buffer.byteLength(first)).toBeLessThanOrEqual(limits.promptFileBytes + 'AGENTS.md'.length + 4);
    expect([first.trimEnd().endsWith('ü\n[The file goes on.]'), text.includes('\ufffd')]).toEqual([true, false]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.promptFilesBytes + 500);
  });
});
