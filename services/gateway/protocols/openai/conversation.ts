import { createHash } from 'node:crypto';
import type { ClientRequest } from '../../../../shared/domain/values/client-request.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { IncomingFile } from '../../attachments/incoming-file.ts';
import type { CompletionRequest } from './input.ts';
import type { Turn } from './turns.ts';

/** The result of a call of the program's own tool. */
export interface CallOutput {
  readonly callId: string;
  readonly text: string;
}

/** The new message, and the context that the request sends along. */
export interface Conversation {
  readonly instructions: string;
  readonly earlier: readonly Turn[];
  /** Results of calls, right before the message or instead of it. */
  readonly results: readonly CallOutput[];
  /** What the user says now; empty if there are results. */
  readonly text: string;
  /** What came with it, and with the messages before it. */
  readonly files: readonly IncomingFile[];
  readonly earlierFiles: readonly IncomingFile[];
  /** The agent's last words before that, as the program has them. */
  readonly lastAnswer: string;
  readonly client: ClientRequest | undefined;
  /** Stands for the conversation up to the user's message before the new one; `null`: there is none. */
  readonly threadBefore: string | null;
  /** Stands for it up to the new message: the next request has it as `threadBefore`. */
  readonly thread: string;
}

const filesOf = (turn: Turn): readonly IncomingFile[] => (turn.role === 'user' ? (turn.files ?? []) : []);

const isInstruction = ({ role }: Turn): boolean => role === 'system' || role === 'developer';

export const conversationIn = ({ turns, field, client }: CompletionRequest): Conversation => {
  checkLength(turns, field);
  const said = turns.filter((one) => !isInstruction(one));
  const last = said.at(-1);
  const text = last?.role === 'user' ? last.text : '';
  const before = last?.role === 'user' ? said.slice(0, -1) : said;
  const from = before.findLastIndex(({ role }) => role !== 'tool') + 1;
  const results = before.slice(from).flatMap((turn) => (turn.role === 'tool' ? [{ callId: turn.callId, text: turn.text }] : []));
  const files = last ? filesOf(last) : [];
  const isSaid = last?.role === 'user' ? text.trim() !== '' || files.length > 0 : results.length > 0;
  if (!isSaid) {
    const message = `${field}: its last message must be the user's, with some text or a file, or the result of a tool`;
    throw new NatterError('invalid', message, { field });
  }
  const lastUser = before.findLastIndex(({ role }) => role === 'user');
  return {
    instructions: turns
      .filter(isInstruction)
      .map((one) => one.text)
      .join('\n\n'),
    earlier: before.slice(0, from),
    results,
    text,
    files,
    earlierFiles: before.slice(0, from).flatMap(filesOf),
    lastAnswer: before.slice(lastUser + 1).findLast(({ role }) => role === 'assistant')?.text ?? '',
    client,
    threadBefore: lastUser === -1 ? null : threadOf(before.slice(0, lastUser + 1)),
    thread: threadOf(said),
  };
};

/** A body with files may be larger than its texts. Throws `NatterError('too_large')`. */
const checkLength = (turns: readonly Turn[], field: string): void => {
  const bytes = turns.reduce((sum, turn) => sum + Buffer.byteLength(JSON.stringify(lineOf(turn))), 0);
  if (bytes <= limits.commandBytes) return;
  const problem = `${field}: its texts, instructions among them, have ${Math.ceil(bytes / 1_024)} kB; send at most ${limits.commandBytes / 1_024} kB`;
  throw new NatterError('too_large', problem, { field });
};

/** The words of a conversation; what programs send back in more than one spelling is left out. */
const threadOf = (turns: readonly Turn[]): string => {
  const words = turns.flatMap((turn) => {
    const said = [turn.text.trim(), ...filesOf(turn).map(({ digest }) => digest)].filter((word) => word !== '');
    return turn.role === 'tool' || said.length === 0 ? [] : [turn.role, ...said];
  });
  return createHash('sha256').update(JSON.stringify(words)).digest('base64url').slice(0, 22);
};

/** Turns as lines, for a session that was not there when they were said. */
export const linesOf = (turns: readonly Turn[]): string => turns.map((turn) => JSON.stringify(lineOf(turn))).join('\n');

const lineOf = (turn: Turn): object => {
  if (turn.role === 'tool') return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
  const calls = turn.role === 'assistant' ? turn.calls : undefined;
  const files = filesOf(turn).map(({ name, type }) => name ?? type);
  return { role: turn.role, content: turn.text, ...(files.length > 0 && { files }), ...(calls && { tool_calls: calls }) };
};

/** Results of calls that no session waits for, as a message: the program made them elsewhere. */
export const resultsAsText = (results: readonly CallOutput[]): string =>
  `[What the tools of that program answered: one result a line]\n${linesOf(results.map((result) => ({ role: 'tool', ...result })))}`;
