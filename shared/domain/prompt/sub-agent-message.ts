import { isSubAgents } from '../values/person-words.ts';
import type { Sender } from '../values/types.ts';

/** What a sub-agent says to the session that began it, as the agent there reads it: with the ids that its calls know. */

interface SubAgentMessage {
  /** The key of the sub-agent's session. */
  readonly key: string;
  /** The run that has ended with it; absent: it goes on. */
  readonly runId?: string | undefined;
  readonly text: string;
}

export const subAgentMessage = ({ key, runId, text }: SubAgentMessage): string => {
  const head = runId
    ? `The sub-agent's run ${runId} has ended${text === '' ? ' without an answer' : ''}.`
    : `The sub-agent ${key} goes on.`;
  return text === '' ? `[${head}]` : `[${head}]\n${text}`;
};

const head = /^\[The sub-agent(?:'s run \S+ has ended( without an answer)?| \S+ goes on)\.\]\n?/gm;

/** A text without the lines that such messages begin with. */
export const withoutSubAgentIds = (text: string): string =>
  text.replaceAll(head, (_, isSilent?: string) => (isSilent === undefined ? '' : 'Ended without an answer.'));

/** A message as people read it: without these ids. */
export const messageText = ({ text, sender }: { readonly text: string; readonly sender?: Sender | undefined }): string =>
  isSubAgents(sender) ? withoutSubAgentIds(text) : text;
