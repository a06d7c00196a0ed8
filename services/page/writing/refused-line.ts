import type { ConfigInForce, Skills } from '../../../shared/client/main.ts';
import type { FurtherWords } from '../../../shared/domain/routing/misspelt-command.ts';
import { client } from '../base/signed-in.ts';

/** Why a line that begins like a command is not sent. The rule is that of the chat on the terminal. */

export const mayBeCommand = (line: string): boolean => /^\/[a-z]/i.test(line);

/** What the configuration and the skills add to the chat commands; `null` for who may not read them. */
const furtherWords = async (): Promise<FurtherWords | null> => {
  try {
    const [{ keys }, { skills }] = await Promise.all([client.get<ConfigInForce>('/v1/config'), client.get<Skills>('/v1/skills')]);
    const triggers = keys.find(({ path }) => path === 'session.resetTriggers')?.value;
    return {
      triggers: Array.isArray(triggers) ? triggers.map(String) : [],
      words: skills.flatMap(({ command }) => (command === null ? [] : [`/${command}`])),
    };
  } catch {
    return null;
  }
};

/** Why a line is not sent; `null`: it is. Where the further words cannot be read, what may be one of them is sent. */
export const whyNotSent = async (line: string): Promise<string | null> => {
  if (!mayBeCommand(line)) return null;
  const { refusalOfLine } = await import('../../../shared/domain/routing/misspelt-command.ts');
  if (refusalOfLine(line, { triggers: [], words: [] }) === null) return null;
  const further = await furtherWords();
  return further === null ? null : refusalOfLine(line, further);
};
