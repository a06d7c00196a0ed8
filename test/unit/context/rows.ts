import { Conversation } from '../../../shared/context/conversation.ts';
import type { TurnView } from '../../../shared/context/said.ts';
import type { ModelMessage } from '../../../shared/ports.ts';
import type { RecordedCommit } from '../../../shared/wire/envelope.ts';

/** One line of text for a message, short enough to read a conversation at a glance. */
export const rowOf = (message: ModelMessage): string => {
  const text = message.text.replace(/^text of /, '');
  if (message.role === 'user') return message.name === 'natter' ? `natter: ${text}` : text;
  if (message.role === 'tool') return `${message.callId} ${message.outcome}`;
  const calls = (message.calls ?? []).map(({ callId }) => callId);
  return `> ${[...(text === '' ? [] : [text]), ...(calls.length > 0 ? [`calls ${calls.join(' ')}`] : [])].join(' ')}`;
};

/** A conversation that has read these commits. */
export const conversationOf = (commits: Iterable<RecordedCommit>): Conversation => {
  const conversation = new Conversation();
  for (const commit of commits) conversation.add(commit);
  return conversation;
};

export const rowsOf = ({ said }: Pick<TurnView, 'said'>): string[] => said.map(({ message }) => rowOf(message));

/** Why a provider would not take these messages: calls and results that are apart. Empty: it would. */
export const problemsOf = (messages: readonly ModelMessage[]): string[] => {
  const problems: string[] = [];
  let expected: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const next = expected.shift();
      if (next !== message.callId) problems.push(`result of ${message.callId} where that of ${next} should be`);
      continue;
    }
    if (expected.length > 0) problems.push(`no result of ${expected.join(' ')}`);
    expected = message.role === 'assistant' ? (message.calls ?? []).map(({ callId }) => callId) : [];
    if (message.role === 'assistant' && message.text === '' && expected.length === 0) problems.push('an empty answer');
  }
  return expected.length > 0 ? [...problems, `no result of ${expected.join(' ')}`] : problems;
};
