import type { UIMessage, UIMessageChunk } from 'ai';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { Call } from '../../operation/operation.ts';
import { type AnswerEntry, endedEntries, type HistoryEntry } from '../../runs/run-history.ts';
import { chunksOf, startOf } from './chunks.ts';

/**
 * A chat's messages as the AI SDK keeps them, under the ids that its page knows: made of the same chunks that a stream would have told, by the
 * package's own reader. What still runs or waits is left out: `resumeStream` brings it.
 */
export const uiMessages = async (call: Call, { key, limit }: { key: SessionKey; limit: number }) => {
  const entries = await endedEntries(call, { key, limit });
  const messages = await Promise.all(entries.map((entry) => messageOf(key, entry)));
  return { messages: messages.flatMap((message) => message ?? []) };
};

const messageOf = async (key: SessionKey, entry: HistoryEntry): Promise<UIMessage | undefined> =>
  entry.kind === 'said' ? { id: entry.id, role: 'user', parts: [{ type: 'text', text: entry.text }] } : answerOf(key, entry);

const answerOf = async (key: SessionKey, { runId, events }: AnswerEntry): Promise<UIMessage | undefined> => {
  // Loaded where a page is loaded again, and nowhere else.
  const { readUIMessageStream } = await import('ai');
  const chunks = [startOf(key, runId), ...events.flatMap(({ event }) => chunksOf(key, event))];
  // An error ends a stream, and says nothing that its metadata does not.
  const stream = ReadableStream.from<UIMessageChunk>(chunks.filter(({ type }) => type !== 'error'));
  let message: UIMessage | undefined;
  for await (const read of readUIMessageStream({ stream })) message = read;
  return message && { ...message, parts: message.parts.map(answeredPart) };
};

/** A page notes its own answer to an approval with the call; from the log it is known by how the call ended. */
const answeredPart = (part: UIMessage['parts'][number]): UIMessage['parts'][number] => {
  if (!('approval' in part) || part.approval === undefined || !part.state.startsWith('output-')) return part;
  const approval = { ...part.approval, approved: part.state !== 'output-denied' };
  return { ...part, approval } as typeof part;
};
