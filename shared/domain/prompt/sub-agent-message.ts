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

const endedSilently = /^\[The sub-agent's run \S+ has ended without an answer\.\]$/;
const head = /^\[The sub-agent(?:'s run \S+ has ended| \S+ goes on)\.\]\n?/;

/** A message as people read it: without these ids. */
export const messageText = ({ text, sender }: { readonly text: string; readonly sender?: Sender | undefined }): string => {
  if (!isSubAgents(sender)) return text;
  return endedSilently.test(text) ? 'Ended without an answer.' : text.replace(head, '');
};
