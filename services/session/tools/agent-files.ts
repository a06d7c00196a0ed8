import { parseKey } from '../../../shared/domain/keys/session-key.ts';
import type { ToolScope } from '../../../shared/ports/tools.ts';
import { isStranger } from './on-behalf.ts';

/** The workspace files that define the agent. Their content goes into prompts. */

/** The files that prompts include, in this order. */
const promptFiles = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'];
/** Those about the owner, which nobody else may see (I12). */
const privateFiles: readonly string[] = ['USER.md', 'MEMORY.md'];

/** Folders with skills, which are announced to all sessions (A15/143). */
const skillFolders: readonly string[] = ['skills', '.agents', '.agents/skills'];

/**
 * The files for the prompt of a turn. Those about the owner appear only in the owner's turns, in their own main or direct
 * session.
 */
export const promptFilesFor = ({ key, sender }: Pick<ToolScope, 'key' | 'sender'>, mainKey: string): readonly string[] => {
  const { kind } = parseKey(key, mainKey);
  const isOwnersOwn = sender.role === 'owner' && (kind === 'main' || kind === 'dm');
  return isOwnersOwn ? promptFiles : promptFiles.filter((name) => !privateFiles.includes(name));
};

/** The files that the turn's sender may not read. A program that acts for a participant counts as one. */
export const keptFrom = (sender: ToolScope['sender']): readonly string[] => (isStranger(sender) ? privateFiles : []);
/** The files and folders that the turn's sender may not change, because their text goes into the prompts of others. */
export const fixedFor = (sender: ToolScope['sender']): readonly string[] =>
  isStranger(sender) ? [...promptFiles, ...skillFolders] : [];
