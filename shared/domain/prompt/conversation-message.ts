import { oneLine } from '../../kit/one-line.ts';
import { type Attachment, isKept } from '../values/attachment.ts';
import type { ClientRequest } from '../values/client-request.ts';
import { ownerName, writer } from '../values/person-words.ts';
import type { Message, Sender, ToolCall } from '../values/types.ts';
import type { ModelMessage } from './model-request.ts';

/** A message and its event: `<seq>.<index>`. */
export interface HeardMessage extends Message {
  readonly of: string;
}

/** What a model sees of a message that its sender withdrew: the turns around it still make sense. */
export const withdrawnText = '[The sender withdrew this message.]';

/** One message of the conversation and its position in the log. */
export interface ConversationMessage {
  /** The commit with which it entered the conversation. A step's calls and their results share one: they stay together. */
  readonly rev: number;
  /** Reading the log from this sequence on yields this message. */
  readonly seq: number;
  /** The turn it belongs to. Absent for a message that was only appended (A5/69), and for a summary. */
  readonly turnId?: string;
  /** Its turn answers this message; no summary replaces it while the turn runs. */
  readonly asks?: true;
  /** It summarises what was said before (A11/126). */
  readonly summary?: true;
  /** What somebody said, which can be edited or withdrawn. */
  readonly heard?: HeardMessage;
  readonly message: ModelMessage;
}

/**
 * Tokens of the previous model step, including its answer, as counted by the provider. They cover the first `messages` of `said`;
 * the rest must be estimated.
 */
export interface CountedTokens {
  readonly tokens: number;
  readonly messages: number;
}

/** Who sent a message, and the channel that it came from, if it came from one. */
export interface Asker {
  readonly sender: Sender;
  readonly channel?: string | undefined;
}

/** What a turn sees of the log before its next model step. */
export interface TurnView {
  /** The text of the messages that the turn answers. For a requested compaction: the instructions. */
  readonly prompt: string;
  /** On whose behalf the turn acts: with the rights that all its senders have in common. */
  readonly sender: Sender;
  /** Everyone whose messages are part of the turn, and from where. */
  readonly askers: readonly Asker[];
  /**
   * The conversation, starting with a summary if there is one. Each call has its result; a step with running calls is not
   * included yet.
   */
  readonly said: readonly ConversationMessage[];
  /** Messages in `said` that joined the turn: the next step records that it has seen them (B6). */
  readonly heard: number;
  /** What the program that asks brings along; `asksAnew`: no step was made since. */
  readonly client?: ClientRequest | undefined;
  readonly asksAnew: boolean;
  /** The calls of the last step, by `callId`. */
  readonly calls: ReadonlyMap<string, ToolCall>;
  /**
   * The turn's memory flush since the last compaction: the request and what followed (A7/85). A flush step sees it after `said`;
   * other steps do not. Empty: there was none.
   */
  readonly flush: readonly ModelMessage[];
  /** The last step was part of the flush and called tools: the next one continues the flush. */
  readonly flushing: boolean;
  /**
   * `null`: there is no step to count from, or its tokens are unknown, as with a model that answers at once without the
   * conversation.
   */
  readonly counted: CountedTokens | null;
  /** The last commit read. */
  readonly rev: number;
  readonly seq: number;
  /** The least sequence that a later read needs, whatever is summarised: that of the queued messages and of the turn itself. */
  readonly neededSeq: number;
}

/** Precedes what the owner says to others, so that the model can decide whether to reply (A6/76, 77). */
export const ownerAside =
  '[The owner wrote this to the group and not to you. Answer only if it helps; otherwise answer <NO_REPLY>.]\n';

/** A message's text as the model sees it: what was said, before it what group routing adds (D3), and after it that files came with it. */
export const textForModel = ({ text, aside, attachments }: Pick<Message, 'text' | 'aside' | 'attachments'>): string => {
  const said = aside === undefined ? text : ownerAside + text;
  if (attachments === undefined || attachments.length === 0) return said;
  const kept = attachments.filter(isKept);
  const others = attachments.filter((one) => !isKept(one));
  const lines = [
    ...(kept.length > 0 ? [attachmentsLine('Attached', kept)] : []),
    ...(others.length > 0 ? [attachmentsLine('Attached, not readable here', others)] : []),
  ];
  return [...(said === '' ? [] : [said]), ...lines].join('\n');
};

const attachmentsLine = (label: string, attachments: readonly Attachment[]): string => {
  const named = attachments.map(({ name, type, bytes }) =>
    [name ?? 'a file', type, bytes === undefined ? undefined : `${bytes} bytes`].filter((part) => part !== undefined).join(', '),
  );
  return oneLine(`[${label}: ${named.join('; ')}]`, Infinity);
};

/** Whose words Natter's own are: summaries, requests and reports. */
export const ownName = 'natter';

/** Names that are no person's to choose. The owner is called as their page is. */
const takenNames: readonly string[] = [ownName, writer, ownerName.toLowerCase()];

/** Whether those who are called so are more than one. Natter's own words are nobody's; the owner's page and programs with their token are one. */
export const areSeveral = (names: readonly string[]): boolean =>
  new Set(names.filter((name) => name !== ownName).map((name) => (name === ownerName ? writer : name))).size > 1;

/** How the model is told who says something. A name is the sender's choice: it fills no second line, and is not one that is taken. */
export const nameForModel = ({ name, principal, id, role }: Sender): string => {
  const said = (name ?? id).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  const isTaken = role !== 'program' && takenNames.includes(said.trim().toLowerCase());
  return isTaken ? `${said.trim()} (${principal ?? id})` : said;
};

/** A summary as the model sees it. */
export const summaryMessage = (summary: string): ModelMessage => ({
  role: 'user',
  name: ownName,
  text: `[Summary of the conversation before this point]\n${summary}`,
});

/** Asks the model to save what it wants to remember before older messages are summarised (A7/85). */
export const flushPrompt: ModelMessage = {
  role: 'user',
  name: ownName,
  text: [
    'The conversation is about to be summarised, and its details will be gone.',
    'If there is anything in it that should be remembered for good, save it with your tools now: facts with memory_add, longer notes in files of the workspace, such as MEMORY.md or memory/<topic>.md, where you have these tools; add to what is there.',
    'Nobody reads what you answer. When you are done, or if there is nothing to save, answer with the one word DONE.',
  ].join(' '),
};
