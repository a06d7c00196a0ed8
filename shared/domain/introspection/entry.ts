import type { TranscriptMessage } from '../projections/schemas.ts';
import { sessionIdsOf } from '../projections/session-ids.ts';
import { transcriptMessages } from '../projections/transcript.ts';
import { shortened } from '../prompt/compaction.ts';
import type { RecordedCommit } from '../session/envelope.ts';

/** One message, tool call or tool result, as the introspection model is shown it. */
export interface Entry {
  /** The rev of its commit, present if a memory may be based on this entry. */
  readonly line?: number;
  readonly role: TranscriptMessage['role'];
  /** UTC, to the second. */
  readonly at: string;
  /** The sender's name; `id` is present where it differs. */
  readonly from?: string;
  readonly id?: string;
  /** A program sent this message, whatever name it uses. */
  readonly program?: true;
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly arguments: string }[];
  /** The tool whose result this is. */
  readonly tool?: string;
  readonly failed?: true;
}

/** Maximum characters of messages, and of tool arguments and results, which matter less. */
export interface EntryBounds {
  readonly said: number;
  readonly tools: number;
}

/**
 * The entries that a commit adds to generation `sessionId`. A commit that ends one generation and starts the next has entries of
 * both (C10).
 */
export const entriesOf = (commit: RecordedCommit, sessionId: string, bounds: EntryBounds): Entry[] => {
  const sessionIds = sessionIdsOf(commit);
  return transcriptMessages(commit)
    .filter(({ edits, withdraws }) => edits === undefined && withdraws === undefined)
    .filter(({ id }) => sessionIds[Number(id.split('.')[1])] === sessionId)
    .map((message) => ({
      ...(message.role === 'user' && { line: commit.rev }),
      ...entryOf(message, bounds),
      ...(isByProgram(commit, message) && { program: true }),
    }));
};

/** The texts that later commits give to messages, by the ids of their events; of a withdrawn message nothing is left. */
export const revisionsIn = ({ events }: RecordedCommit): [of: string, text: string][] =>
  events.flatMap((event): [string, string][] => {
    if (event.type === 'message_edited') return [[event.of, event.text]];
    return event.type === 'message_withdrawn' ? [[event.of, '[withdrawn by its sender]']] : [];
  });

/** The commit with what its messages say now. */
export const revisedCommit = (commit: RecordedCommit, texts: ReadonlyMap<string, string>): RecordedCommit => ({
  ...commit,
  events: commit.events.map((event, index) => {
    const text = texts.get(`${commit.seq}.${index}`);
    return event.type === 'user_message' && text !== undefined ? { ...event, message: { ...event.message, text } } : event;
  }),
});

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
