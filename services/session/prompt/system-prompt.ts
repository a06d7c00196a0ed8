import { statSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { ToolSpec } from '../../../shared/domain/prompt/model-request.ts';
import { toolCharacters } from '../../../shared/domain/prompt/tokens.ts';
import type { PromptPart } from '../../../shared/domain/values/types.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { ToolScope } from '../../../shared/ports/tools.ts';
import { memorySection, workingMemorySection } from '../memory/prompt.ts';
import type { MemoryReader } from '../memory/reader.ts';
import { promptFilesFor } from '../tools/agent-files.ts';
import { Workspace } from '../tools/workspace.ts';

export interface SystemPrompt {
  readonly text: string;
  /** The sizes of its parts and of the tool definitions, which every request includes too (A11/124). */
  readonly parts: readonly PromptPart[];
}

/** A file's content and its stamp when it was read. `text` is empty if the file may not be read. */
interface KnownFile {
  readonly stamp: string;
  readonly text: string;
}

type Section = Omit<PromptPart, 'characters'> & { readonly text: string };

/**
 * Builds the system prompts of a host's sessions from the configured prompt, the workspace's files (read again when they change)
 * and long-term memory (A7/82).
 */
export class SystemPrompts {
  readonly #files = new Map<string, KnownFile>();
  readonly #memory: MemoryReader | undefined;

  constructor(memory?: MemoryReader) {
    this.#memory = memory;
  }

  /** The prompt for a turn that answers this sender. What only the owner may read is not shown to others (I12). */
  async read(
    { agent: { systemPrompt, workspace }, session: { mainKey }, memory }: Pick<Config, 'agent' | 'session' | 'memory'>,
    tools: readonly ToolSpec[],
    scope: Pick<ToolScope, 'key' | 'sender'>,
    { skills = '', workingMemory = '' }: { readonly skills?: string; readonly workingMemory?: string } = {},
  ): Promise<SystemPrompt> {
    const files = workspace === undefined ? [] : await this.#readFiles(workspace, promptFilesFor(scope, mainKey));
    // Skills are listed only where the session can read them (A15/168).
    const canRead = skills !== '' && tools.some(({ name }) => name === 'read_file');
    const { text: remembered, memories } = await this.#remembered(memory, scope);
    const sections: Section[] = [
      ...files.map(({ name, text }) => ({ name, text: `## ${name}\n\n${text}` })),
      ...(canRead ? [{ name: 'skills', text: skills }] : []),
      ...named('memory', remembered, memories),
      ...named('working memory', workingMemorySection(workingMemory)),
    ];
    return {
      text: [systemPrompt, ...sections.map(({ text }) => text)].join('\n\n'),
      parts: [
        { name: 'system prompt', characters: systemPrompt.length },
        ...sections.map(({ text, ...part }) => ({ ...part, characters: text.length })),
        ...toolParts(tools),
      ].slice(0, limits.promptParts),
    };
  }

  async #remembered(
    config: Config['memory'],
    scope: Pick<ToolScope, 'key' | 'sender'>,
  ): Promise<ReturnType<typeof memorySection>> {
    if (this.#memory === undefined || config.promptEntries === 0) return { text: '', memories: [] };
    return memorySection((await this.#memory.at(scope)).newest(config.promptEntries), config);
  }

  async #readFiles(workspace: string, names: readonly string[]): Promise<{ name: string; text: string }[]> {
    const files = await Promise.all(names.map(async (name) => ({ name, text: (await this.#readFile(workspace, name)).trim() })));
    let leftBytes: number = limits.promptFilesBytes;
    return files.flatMap(({ name, text }) => {
      if (text === '') return [];
      const shown = cut(Buffer.from(text), Math.min(limits.promptFileBytes, leftBytes));
      leftBytes = Math.max(0, leftBytes - Buffer.byteLength(shown));
      return [{ name, text: shown }];
    });
  }

  /** The stamp tells if the file has changed; the workspace decides if it may be read. */
  async #readFile(workspace: string, name: string): Promise<string> {
    const path = join(workspace, name);
    const stamp = stampOf(path);
    if (stamp === null) return '';
    const known = this.#files.get(path);
    if (known?.stamp === stamp) return known.text;
    const text = await startOf(new Workspace(workspace), name);
    this.#files.set(path, { stamp, text });
    return text;
  }
}

/** One part for the tools of each MCP server (named `<server>__<tool>`), and one for Natter's own tools. */
const toolParts = (tools: readonly ToolSpec[]): PromptPart[] => {
  const parts = new Map<string, number>();
  for (const tool of tools) {
    const [server = '', rest] = tool.name.split('__', 2);
    const part = rest === undefined ? 'tools' : `tools of ${server}`;
    parts.set(part, (parts.get(part) ?? 0) + toolCharacters(tool));
  }
  return Array.from(parts, ([name, characters]) => ({ name, characters }));
};

/** In this thread: it takes some microseconds, while a turn would wait a millisecond for the thread pool. `null`: there is no such file. */
const stampOf = (path: string): string | null => {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : null;
  } catch {
    return null;
  }
};

const named = (name: string, text: string, memories: readonly string[] = []): Section[] =>
  text === '' ? [] : [{ name, text, ...(memories.length > 0 && { memories: [...memories] }) }];

/** The beginning of a file: as much as is ever shown, plus one character to tell if it continues. Empty if it may not be read. */
const startOf = async (workspace: Workspace, name: string): Promise<string> => {
  try {
    const file = await workspace.openFile(name);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(limits.promptFileBytes + 4), 0, limits.promptFileBytes + 4, 0);
      return new StringDecoder('utf8').write(buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'invalid') || hasCode(error, 'not_found')) return '';
    throw error;
  }
};

const cut = (bytes: Buffer, most: number): string => {
  if (bytes.byteLength <= most) return bytes.toString();
  const note = '[The file goes on.]';
  return `${new StringDecoder('utf8').write(bytes.subarray(0, Math.max(0, most - note.length - 1)))}\n${note}`.trimStart();
};
