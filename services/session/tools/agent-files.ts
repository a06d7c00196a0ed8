import { parseKey } from '../../../shared/domain/keys/session-key.ts';
import type { ToolScope } from '../../../shared/ports/tools.ts';

/** The files of the workspace that make the agent what it is. All that stands in them goes into prompts. */

/** What every model is given, in this order. */
const promptFiles = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'];
/** Of these, what is about the owner: nobody else's business (I12). */
const privateFiles: readonly string[] = ['USER.md', 'MEMORY.md'];

/** Folders with skills, of which all sessions are told (A15/143). */
const skillFolders: readonly string[] = ['skills', '.agents'];

/** Some disks know no difference between upper and lower case. */
const isOneOf = (names: readonly string[], path: string): boolean =>
  names.some((name) => name.toLowerCase() === path.toLowerCase());
const isParticipant = ({ role = 'participant' }: ToolScope['sender']): boolean => role === 'participant';

/** The files for the prompt of a turn. What is about the owner is for the owner alone, where nobody else listens. */
export const promptFilesFor = ({ key, sender }: Pick<ToolScope, 'key' | 'sender'>, mainKey: string): readonly string[] => {
  const { kind } = parseKey(key, mainKey);
  const isOwnersOwn = sender.role === 'owner' && (kind === 'main' || kind === 'dm');
  return isOwnersOwn ? promptFiles : promptFiles.filter((name) => !privateFiles.includes(name));
};

/** Whether a file is kept from whoever wrote the message that a turn answers. A program that works for them counts as them. */
export const isKeptFrom = (sender: ToolScope['sender'], path: string): boolean =>
  isParticipant(sender) && isOneOf(privateFiles, path);
/** Whether they may change it: others would be talked to as it says. */
export const isFixedFor = (sender: ToolScope['sender'], path: string): boolean =>
  isParticipant(sender) && (isOneOf(promptFiles, path) || isOneOf(skillFolders, path.split('/', 1)[0] ?? ''));
