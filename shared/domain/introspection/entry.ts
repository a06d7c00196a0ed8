import type { TranscriptMessage } from '../projections/schemas.ts';
import { sessionIdsOf } from '../projections/session-ids.ts';
import { transcriptMessages } from '../projections/transcript.ts';
import { shortened } from '../prompt/compaction.ts';
import type { RecordedCommit } from '../session/envelope.ts';

/** One thing that was said or done, as the model that looks back is told of it. */
export interface Entry {
  /** Its number, if a memory may rest on it: the rev of its commit. */
  readonly line?: number;
  readonly role: TranscriptMessage['role'];
  /** To the second, UTC. */
  readonly at: string;
  /** Who said it; `id` where that is another word. */
  readonly from?: string;
  readonly id?: string;
  /** No person said it, whatever it calls itself. */
  readonly program?: true;
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly arguments: string }[];
  /** Whose result it is. */
  readonly tool?: string;
  readonly failed?: true;
}

/** Characters of what people and the agent say, and of what a tool is given and gives, which matters less. */
export interface EntryBounds {
  readonly said: number;
  readonly tools: number;
}

/** What a commit adds to the generation `sessionId`: a commit that ends one generation and begins the next has something of both (C10). */
export const entriesOf = (commit: RecordedCommit, sessionId: string, bounds: EntryBounds): Entry[] => {
  const sessionIds = sessionIdsOf(commit);
  return transcriptMessages(commit)
    .filter(({ id }) => sessionIds[Number(id.split('.')[1])] === sessionId)
    .map((message) => ({
      ...(message.role === 'user' && { line: commit.rev }),
      ...entryOf(message, bounds),
      ...(isByProgram(commit, message) && { program: true }),
    }));
};

const isByProgram = ({ events }: RecordedCommit, { id }: TranscriptMessage): boolean => {
  const event = events[Number(id.split('.')[1])];
  return event?.type === 'user_message' && event.message.sender.role === 'program';
};

const entryOf = ({ role, content, timestamp, sender, toolName, isError }: TranscriptMessage, bounds: EntryBounds): Entry => {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const calls = content.flatMap((part) =>
    part.type === 'toolCall' ? [{ tool: part.name, arguments: shortened(part.arguments, bounds.tools) }] : [],
  );
  return {
    role,
    at: `${new Date(timestamp).toISOString().slice(0, 19)}Z`,
    ...(sender && { from: sender.name ?? sender.id }),
    ...(sender?.name !== undefined && sender.name !== sender.id && { id: sender.id }),
    ...(toolName !== undefined && { tool: toolName }),
    ...(isError && { failed: true }),
    text: shortened(text, role === 'toolResult' ? bounds.tools : bounds.said),
    ...(calls.length > 0 && { calls }),
  };
};
