import type { Sender, ToolCall } from '../values/types.ts';
import type { ModelMessage } from './model-request.ts';

/** One message of the conversation, and where in the log it comes from. */
export interface ConversationMessage {
  /** The commit with which it became part of the conversation. A step's calls and their results have one in common: they stay together. */
  readonly rev: number;
  /** Whoever reads the log from this sequence on gets to know it. */
  readonly seq: number;
  /** The turn it belongs to. Absent: it was only remembered (A5/69), or it is a summary. */
  readonly turnId?: string;
  /** What its turn is to answer: as long as that runs no summary takes its place. */
  readonly asks?: true;
  /** It stands for what was said before (A11/126). */
  readonly summary?: true;
  readonly message: ModelMessage;
}

/**
 * Tokens of the model step before as its provider counted them, its answer included, as far as `messages` of `said`. Those after them are
 * yet to be estimated.
 */
export interface CountedTokens {
  readonly tokens: number;
  readonly messages: number;
}

/** What a turn sees of the log before its next model step. */
export interface TurnView {
  /** The text of the message that the turn answers; of those it merges too. Of a compaction that somebody asked for: the instructions. */
  readonly prompt: string;
  /** In whose name the turn acts: with no more rights than each of those who have a part in it. */
  readonly sender: Sender;
  /** All who have a part in it. */
  readonly senders: readonly Sender[];
  /** The conversation, a summary first if there is one. Each call has its result; a step whose calls still run is not in it yet. */
  readonly said: readonly ConversationMessage[];
  /** Messages that joined the turn and are in `said`: what the next step says that it has heard (B6). */
  readonly heard: number;
  /** The calls of the last step, by `callId`. */
  readonly calls: ReadonlyMap<string, ToolCall>;
  /**
   * The turn's memory flush since the last compaction: the request and what followed (A7/85). A flush step sees it behind `said`, no other
   * step does. Empty: there was none.
   */
  readonly flush: readonly ModelMessage[];
  /** The last step was part of the flush and called tools: the next one goes on with it. */
  readonly flushing: boolean;
  /** `null`: there is no step to count from, or nobody counted it: a model that answers at once knows nothing of the conversation. */
  readonly counted: CountedTokens | null;
  /** The last commit read. */
  readonly rev: number;
  readonly seq: number;
  /** What a later reading needs, whatever is summarised: the least sequence of what waits and of the turn itself. */
  readonly neededSeq: number;
}

/** A summary as the model sees it. */
export const summaryMessage = (summary: string): ModelMessage => ({
  role: 'user',
  name: 'natter',
  text: `[Summary of the conversation before this point]\n${summary}`,
});

/** Asks the model to save what it wants to remember, before older messages are summarised (A7/85). */
export const flushPrompt: ModelMessage = {
  role: 'user',
  name: 'natter',
  text: [
    'The conversation is about to be summarised, and its details will be gone.',
    'If there is anything in it that should be remembered for good, save it with your tools now: facts with memory_add, longer notes in files of the workspace, such as MEMORY.md or memory/<topic>.md, where you have these tools; add to what is there.',
    'Nobody reads what you answer. When you are done, or if there is nothing to save, answer with the one word DONE.',
  ].join(' '),
};
