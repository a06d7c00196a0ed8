import type { CallBlock } from '../../../shared/domain/prompt/call-block.ts';
import { type ConversationMessage, flushPrompt, textForModel } from '../../../shared/domain/prompt/conversation-message.ts';
import type { ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import type { Message, Sender, ToolCall } from '../../../shared/domain/values/types.ts';
import { detachedString } from '../../../shared/kit/detached-string.ts';

/** A message whose turn has not read it yet, and the sequence of its commit. */
export interface Waiting {
  readonly message: Message;
  readonly seq: number;
}

/** The state of the running turn in a conversation. */
export interface RunningTurn {
  readonly id: string;
  /** Reading from this sequence on yields the whole turn. */
  readonly fromSeq: number;
  readonly prompt: string;
  /** False if a message that it answers was not among the commits read. */
  readonly isWhole: boolean;
  /** The senders of the messages that started it. */
  readonly senders: readonly Sender[];
  /** Messages that joined it; a step has read the first `heard` of them. */
  readonly joined: Message[];
  heard: number;
  calls: ReadonlyMap<string, ToolCall>;
  block: CallBlock | null;
  /** Messages that appear once the block is complete. */
  readonly later: ConversationMessage[];
  flush: readonly ModelMessage[];
  flushing: boolean;
}

/** The sender of a turn that answers no message: Natter itself. */
const nobody: Sender = { id: 'natter', role: 'program' };

/** The acting sender of a turn with messages from several people. */
export const severalPeople: Sender = Object.freeze({ id: 'several', role: 'participant' });

export const runningTurn = (
  id: string,
  { fromSeq, asked, missing, task }: { fromSeq: number; asked: readonly Message[]; missing: number; task: string | null },
): RunningTurn => ({
  id,
  fromSeq,
  prompt: task ?? asked.map(textForModel).join('\n\n'),
  isWhole: task !== null || missing === 0,
  senders: asked.length > 0 ? asked.map(({ sender }) => sender) : [nobody],
  joined: [],
  heard: 0,
  calls: new Map(),
  block: null,
  later: [],
  flush: [],
  flushing: false,
});

/** The calls of a step, copied so that they do not retain the commit in memory. */
export const detachedCalls = (calls: readonly ToolCall[]): ToolCall[] =>
  calls.map(({ callId, tool, arguments: given }) => ({
    callId: detachedString(callId),
    tool: detachedString(tool),
    arguments: detachedString(given),
  }));

/** The turn's flush messages after one of its steps. `text` is the step's text, or `null` if it makes calls. */
export const flushMessages = ({ flush }: RunningTurn, text: string | null): readonly ModelMessage[] => [
  ...(flush.length > 0 ? flush : [flushPrompt]),
  ...(text === null ? [] : [{ role: 'assistant', text } as const]),
];

/** The senders of all messages in the turn. A program that acts for a participant is listed twice, once in each role. */
export const sendersOf = ({ senders, joined }: RunningTurn): readonly Sender[] =>
  [...senders, ...joined.map(({ sender }) => sender)].flatMap((sender) =>
    sender.onBehalfOf === undefined ? [sender] : [sender, { ...sender, role: sender.onBehalfOf }],
  );

/**
 * The sender whose rights the turn has: only those that all its senders share, so that nobody acts with another person's rights.
 * The owner's rights apply only if all senders are the owner; several other people have the rights of none of them.
 */
export const actingSender = (senders: readonly Sender[]): Sender => {
  const others = senders.filter(({ role }) => role !== 'owner');
  const [first] = others;
  if (first === undefined) return senders[0] ?? nobody;
  if (others.some((other) => personOf(other) !== personOf(first))) return severalPeople;
  return others.find(({ role }) => role !== 'program') ?? first;
};

const personOf = ({ principal, id }: Sender): string => principal ?? id;

export const userMessage = (message: Message): ModelMessage => ({
  role: 'user',
  text: textForModel(message),
  name: detachedString(message.sender.name ?? message.sender.id),
});
