import { parseKey } from '../../../shared/domain/keys/session-key.ts';
import type { ToolScope } from '../../../shared/ports/tools.ts';
import { isStranger } from './on-behalf.ts';

/** The workspace files that define the agent. Their content goes into prompts. */

/** The files that prompts include, in this order. */
const promptFiles = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'];
/** Those about the owner, which nobody else may see (I12). */
const privateFiles: readonly string[] = ['USER.md', 'MEMORY.md'];

/** Folders with skills, which are announced to all sessions (A15/143). */
const skillFolders: readonly string[] = ['skills', '.agents'];

/** Ignores case, because some file systems do. */
const isOneOf = (names: readonly string[], path: string): boolean =>
  names.some((name) => name.toLowerCase() === path.toLowerCase());

/**
 * The files for the prompt of a turn. Those about the owner appear only in the owner's turns, in their own main or direct
 * session.
 */
export const promptFilesFor = ({ key, sender }: Pick<ToolScope, 'key' | 'sender'>, mainKey: string): readonly string[] => {
  const { kind } = parseKey(key, mainKey);
  const isOwnersOwn = sender.role === 'owner' && (kind === 'main' || kind === 'dm');
  return isOwnersOwn ? promptFiles : promptFiles.filter((name) => !privateFiles.includes(name));
};

/** True if the turn's sender may not read the file. A program that acts for a participant counts as one. */
export const isKeptFrom = (sender: ToolScope['sender'], path: string): boolean =>
  isStranger(sender) && isOneOf(privateFiles, path);
/** True if the turn's sender may not change the file, because its text goes into the prompts of others. */
export const isFixedFor = (sender: ToolScope['sender'], path: string): boolean =>
  isStranger(sender) && (isOneOf(promptFiles, path) || isOneOf(skillFolders, path.split('/', 1)[0] ?? ''));
