import { type BegunRun, NatterApiError } from '../../../shared/client/main.ts';
import { isTextBySpace } from '../../../shared/domain/routing/chat-help.ts';
import { gatewayBack } from '../base/away.ts';
import { client, problemOf, who } from '../base/signed-in.ts';
import { changeOne, dropOutgoing, loadedAgain, type Outgoing, outgoingOfAll, outgoingTo } from './outgoing.ts';
import { noteCommand } from './typed-commands.ts';

/** Sends what is on its way: to each session one after the other, in the order in which it was written. */

/** How long a message with files may be on its way, ms: a line can be slow. */
const uploadMs = 300_000;

/** Posts a message, or the command that it is. The same one again is one message. */
const post = async (key: string, one: Outgoing): Promise<BegunRun> => {
  const { messageId, files } = one;
  const text = one.text.trim();
  const message = { text, messageId, ...(isTextBySpace(one.text) && { commands: false }) };
  if (files.length === 0) {
    return client.sessions.post(key, message, { idempotencyKey: messageId });
  }
  const { postedFiles } = await import('../files/posted-files.ts');
  const attachments = await postedFiles(files);
  return client.sessions.post(key, { ...message, attachments }, { idempotencyKey: messageId, timeoutMs: uploadMs });
};

/** The chats that are open: a recorded message replaces the one that was sent there. */
const openChats = new Set<string>();
/** A chat shows what is sent until its event comes, until the function that it returns is called. */
export const awaitEvents = (key: string): (() => void) => {
  openChats.add(key);
  return () => void openChats.delete(key);
};

/** Whether a message did not get through. One with files that took too long would take as long again. */
const isCutOff = (error: unknown, { files }: Outgoing): boolean =>
  error instanceof NatterApiError && (error.code === 'unreachable' || (error.code === 'timeout' && files.length === 0));

/** Sends one message. Without a connection it waits for one, as long as the same person is signed in. */
const deliver = async (key: string, one: Outgoing, sender: ReturnType<typeof who.peek>): Promise<void> => {
  const { messageId, text } = one;
  const isWanted = (): boolean => outgoingTo(key).some((each) => each.messageId === messageId);
  while (isWanted())
    try {
      if (who.peek() !== sender) throw new Error('It was written before you signed in again.');
      const { runId } = await post(key, one);
      // A text that is a chat command has an answer, and no message of its own.
      const isCommand = text.startsWith('/');
      if (isCommand) noteCommand(key, runId, text);
      if (isCommand || !openChats.has(key)) dropOutgoing(key, messageId);
      return;
    } catch (error) {
      if (!isCutOff(error, one)) return changeOne(key, messageId, { problem: problemOf(error), isWaiting: false });
      changeOne(key, messageId, { isWaiting: true });
      await gatewayBack();
    }
};

/** By session: ends when the last message that was written is sent, or cannot be. */
const lines = new Map<string, Promise<void>>();

/** Sends a message after those before it. The same one again is one message. Never throws. */
export const sendInOrder = (key: string, one: Outgoing): Promise<void> => {
  const sender = who.peek();
  const line = (lines.get(key) ?? Promise.resolve()).then(() => deliver(key, one, sender));
  lines.set(key, line);
  return line;
};

/** What is older, ms, is not sent without being asked for: nobody expects it any more. */
const longestMs = 3_600_000;

/** Goes on with what was on its way when the page was loaded. */
export const resumeSending = (): void => {
  for (const [key, list] of outgoingOfAll())
    for (const one of list) {
      if (one.problem !== null) continue;
      if (who.peek() && Date.now() - one.at < longestMs) void sendInOrder(key, one);
      else changeOne(key, one.messageId, { problem: loadedAgain });
    }
};
