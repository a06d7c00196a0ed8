import type { CallBlock } from '../../../shared/domain/prompt/call-block.ts';
import { type ConversationMessage, flushPrompt } from '../../../shared/domain/prompt/conversation-message.ts';
import type { ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import type { Message, Sender, ToolCall } from '../../../shared/domain/values/types.ts';
import { detachedString } from '../../../shared/kit/detached-string.ts';

/** A message that waits to be heard, and where it is written. */
export interface Waiting {
  readonly message: Message;
  readonly seq: number;
}

/** What a conversation knows of the turn that runs. */
export interface RunningTurn {
  readonly id: string;
  /** Whoever reads from here on gets to know all of the turn. */
  readonly fromSeq: number;
  readonly prompt: string;
  /** False: a message that it answers is not in what was read. */
  readonly isWhole: boolean;
  /** Who has a part in it: who asked for it first. */
  readonly senders: readonly Sender[];
  /** Messages that joined it, and how many of them a step has heard. */
  readonly joined: Message[];
  heard: number;
  calls: ReadonlyMap<string, ToolCall>;
  block: CallBlock | null;
  /** Heard as soon as the block is complete. */
  readonly later: ConversationMessage[];
  flush: readonly ModelMessage[];
  flushing: boolean;
}

/** The program itself, when nobody wrote what the turn is about. */
const nobody: Sender = { id: 'natter', role: 'program' };

/** Nobody in particular: several people who have a part in one turn. */
export const severalPeople: Sender = Object.freeze({ id: 'several', role: 'participant' });

export const runningTurn = (
  id: string,
  { fromSeq, asked, missing, task }: { fromSeq: number; asked: readonly Message[]; missing: number; task: string | null },
): RunningTurn => ({
  id,
  fromSeq,
  prompt: task ?? asked.map(({ text }) => text).join('\n\n'),
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

/** The calls of a step, detached from the commit they were read from. */
export const detachedCalls = (calls: readonly ToolCall[]): ToolCall[] =>
  calls.map(({ callId, tool, arguments: given }) => ({
    callId: detachedString(callId),
    tool: detachedString(tool),
    arguments: detachedString(given),
  }));

/** The turn's flush after a step of it; `text` is what the step says, `null` if it only makes calls. */
export const flushMessages = ({ flush }: RunningTurn, text: string | null): readonly ModelMessage[] => [
  ...(flush.length > 0 ? flush : [flushPrompt]),
  ...(text === null ? [] : [{ role: 'assistant', text } as const]),
];

/** All who have a part in the turn. A program that works for a participant is there as both. */
export const sendersOf = ({ senders, joined }: RunningTurn): readonly Sender[] =>
  [...senders, ...joined.map(({ sender }) => sender)].flatMap((sender) =>
    sender.onBehalfOf === undefined ? [sender] : [sender, { ...sender, role: sender.onBehalfOf }],
  );

/**
 * In whose name they act together: nobody's word in another's turn must act with the other's rights. The owner's rights are only the
 * owner's alone, and of several others none has the rights of one.
 */
export const actingSender = (senders: readonly Sender[]): Sender => {
  const others = senders.filter(({ role }) => role !== 'owner');
  const [first] = others;
  if (first === undefined) return senders[0] ?? nobody;
  if (others.some((other) => personOf(other) !== personOf(first))) return severalPeople;
  return others.find(({ role }) => role !== 'program') ?? first;
};

const personOf = ({ principal, id }: Sender): string => principal ?? id;

export const userMessage = ({ text, sender }: Message): ModelMessage => ({
  role: 'user',
  text,
  name: detachedString(sender.name ?? sender.id),
});
