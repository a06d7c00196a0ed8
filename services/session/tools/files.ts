import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { z } from 'zod';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { oneLine, quoted } from '../../../shared/kit/one-line.ts';
import type { Tool } from '../../../shared/ports/tools.ts';
import type { Entries } from '../../../shared/runtime/skills/environment.ts';
import { pinnedFile } from '../../../shared/runtime/skills/pin.ts';
import { fixedFor, keptFrom } from './agent-files.ts';
import { defineTool } from './define.ts';
import { type Judge, Workspace } from './workspace.ts';

/**
 * Tools that read, write and list files in the agent's workspace, and read those of the session's skills. `entries` holds the
 * settings of the skills, whose pinned digests are enforced.
 */
export const fileTools = (root: string, access: 'read-only' | 'read-write', entries: Entries = {}): Tool[] => {
  const workspace = new Workspace(root);
  const reading = [readFile(root, workspace, entries), listFiles(workspace)];
  return access === 'read-write' ? [...reading, writeFile(workspace)] : reading;
};

export const writeFileName = 'write_file';

const pathText = z.string().min(1, 'is empty; use for example "notes/today.md"').max(1_024);
/** Leaves room for the note in one page of output. */
const readBytes = limits.toolPageBytes - 1_024;

const readFile = (root: string, workspace: Workspace, entries: Entries): Tool =>
  defineTool({
    name: 'read_file',
    description: 'Reads a text file of the workspace or of a skill, or a part of it. A long one comes in parts.',
    input: z.strictObject({
      path: pathText.describe('Path of the file, relative to the workspace; of a skill as its location says.'),
      offset: z.int().min(0).default(0).describe('Byte to begin at; the end of a part names the next.'),
      limit: z.int().min(16).max(readBytes).default(readBytes).describe('Bytes at most.'),
    }),
    usual: 'allow',
    idempotent: true,
    readsOnly: true,
    line: ({ path }) => `read the file ${quoted(path)}`,
    act: async ({ path, offset, limit }, { scope: { sender, skills = [] } }) => {
      const skill = skills.find(({ folder }) => path.startsWith(`${folder}/`));
      const file = skill
        ? await new Workspace(skill.folder).openFile(path.slice(skill.folder.length + 1))
        : await workspace.openFile(path, judgeOf(workspace, path, 'read', keptFrom(sender)));
      try {
        const pinned = pinnedFile(root, path, skills, entries);
        if (pinned) return partOf(pinned.subarray(offset, offset + limit), offset, pinned.length, path);
        const { size } = await file.stat();
        const { buffer, bytesRead } = await file.read(Buffer.alloc(limit), 0, limit, offset);
        return partOf(buffer.subarray(0, bytesRead), offset, size, path);
      } finally {
        await file.close();
      }
    },
  });

/**
 * A file has one name for the tools, its real one, so that rules about paths hold; and nobody uses what is only the owner's: `reserved`
 * files and folders, or what these lead to.
 */
const judgeOf =
  (workspace: Workspace, path: string, what: 'read' | 'change', reserved: readonly string[]): Judge =>
  async ({ path: real, links }) => {
    for (const name of reserved) {
      if (isAt(real.toLowerCase(), name.toLowerCase()) || isAt(real, await workspace.leadsTo(name))) throw ownersOnly(path, what);
    }
    if (real !== path) throw unusable(path, `it is a link to ${quoted(real)}; use that path`);
    if (links > 1) throw unusable(path, `it has ${links} names (hard links); put a copy in its place, which has one`);
  };
const isAt = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
const unusable = (path: string, why: string) => new NatterError('invalid', `path: ${quoted(path)}: ${why}`, { field: 'path' });

const ownersOnly = (path: string, what: 'read' | 'change') =>
  new NatterError('forbidden', `path: ${quoted(path)}: it is the owner's to ${what}; use another file`, { field: 'path' });

/** A part of a file as text, with a note unless it is the whole file. Ends at a line break if one is in its second half. */
const partOf = (bytes: Uint8Array, offset: number, size: number, path: string): string => {
  if (bytes.length === 0) return size === 0 ? '[the file is empty]' : `[the file ends at byte ${size}]`;
  const isLast = offset + bytes.length >= size;
  // If the part starts inside a character, it begins with the next one.
  const start =
    offset === 0
      ? 0
      : Math.max(
          0,
          bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80),
        );
  const all = textOf(bytes.subarray(start), isLast, path);
  const lineEnd = all.lastIndexOf('\n') + 1;
  const text = isLast || lineEnd < all.length / 2 ? all : all.slice(0, lineEnd);
  const end = offset + start + Buffer.byteLength(text);
  if (offset === 0 && end >= size) return text;
  const next = end >= size ? 'the file ends here' : `go on with offset ${end}`;
  return `${text}${text.endsWith('\n') ? '' : '\n'}[bytes ${offset + start} to ${end} of ${size}; ${next}]`;
};

const textOf = (bytes: Uint8Array, isLast: boolean, path: string): string => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isLast });
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below, like a zero byte.
  }
  throw new NatterError('invalid', `path: ${quoted(path)}: it is not a text in UTF-8`, { field: 'path' });
};

const writeFile = (workspace: Workspace): Tool =>
  defineTool({
    name: writeFileName,
    description: 'Writes a text file of the workspace: all of it, in place of what it was. Makes its folders.',
    input: z.strictObject({
      path: pathText.describe('Path of the file, relative to the workspace.'),
      content: z.string().max(limits.toolArgumentsCharacters).describe('All that shall be in the file.'),
    }),
    usual: 'allow',
    idempotent: true,
    line: ({ path, content }) => `write ${Buffer.byteLength(content)} bytes to the file ${quoted(path)}: ${quoted(content, 600)}`,
    act: async ({ path, content }, { callId, scope }) => {
      const bytes = Buffer.from(content);
      // A repeated call finds its own temporary file, and no other call does.
      const id = createHash('sha256').update(`${scope.key} ${callId}`).digest('hex').slice(0, 24);
      await workspace.writeFile(path, bytes, id, judgeOf(workspace, path, 'change', fixedFor(scope.sender)));
      return `wrote ${bytes.length} bytes to ${quoted(path)}`;
    },
  });

const listFiles = (workspace: Workspace): Tool =>
  defineTool({
    name: 'list_files',
    description: 'Lists a folder of the workspace: names with sizes in bytes; folders end in "/".',
    input: z.strictObject({ path: pathText.default('.').describe('Path of the folder, relative to the workspace.') }),
    usual: 'allow',
    idempotent: true,
    readsOnly: true,
    line: ({ path }) => `list the folder ${quoted(path)}`,
    act: async ({ path }) => {
      const lines: string[] = [];
      let more = false;
      const note = async (entry: Dirent, size: () => Promise<number | null>) => {
        more = lines.length >= limits.listedFiles;
        if (more) return false;
        const name = oneLine(entry.name, 255);
        if (entry.isDirectory()) lines.push(`${name}/`);
        else if (entry.isSymbolicLink()) lines.push(`${name} (link)`);
        else lines.push(entry.isFile() ? `${name} ${await size()}` : `${name} (not a file)`);
        return true;
      };
      await workspace.list(path, note, judgeOf(workspace, path, 'read', []));
      const listed = lines.sort((one, other) => (one < other ? -1 : 1));
      return [...(listed.length === 0 ? ['[the folder is empty]'] : listed), ...(more ? ['[and more]'] : [])].join('\n');
    },
  });
