import { blockMessages, type CallBlock, isComplete } from '../../../shared/domain/prompt/call-block.ts';
import {
  type Asker,
  type ConversationMessage,
  flushPrompt,
  type HeardMessage,
  nameForModel,
  textForModel,
  withdrawnText,
} from '../../../shared/domain/prompt/conversation-message.ts';
import type { ModelMessage, SignedReasoning } from '../../../shared/domain/prompt/model-request.ts';
import type { CallResult } from '../../../shared/domain/session/commands.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { isKept } from '../../../shared/domain/values/attachment.ts';
import type { ClientRequest } from '../../../shared/domain/values/client-request.ts';
import type { ReasoningPart } from '../../../shared/domain/values/reasoning.ts';
import type { Message, Sender, ToolCall } from '../../../shared/domain/values/types.ts';
import { detachedString } from '../../../shared/kit/text/detached-string.ts';

/** A message whose turn has not read it yet, and the sequence of its commit. */
export interface Waiting {
  readonly message: HeardMessage;
  readonly seq: number;
}

/** Messages whose turns have not read them yet, by turn. */
export class WaitingMessages extends Map<string, Waiting> {
  /** The message of a turn, which waits no longer. */
  take(turnId: string): Waiting | undefined {
    const waiting = this.get(turnId);
    this.delete(turnId);
    return waiting;
  }

  get characters(): number {
    return Array.from(this.values(), ({ message }) => message.text.length).reduce((sum, length) => sum + length, 0);
  }

  revise(event: Revision): void {
    for (const [turnId, { message, seq }] of this)
      if (message.of === event.of) this.set(turnId, { message: revisedMessage(message, event), seq });
  }
}

/** The state of the running turn in a conversation. */
export interface RunningTurn {
  readonly id: string;
  /** Reading from this sequence on yields the whole turn. */
  readonly fromSeq: number;
  prompt: string;
  /** The messages that started it. */
  readonly asked: HeardMessage[];
  /** False if a message that it answers was not among the commits read. */
  readonly isWhole: boolean;
  /** Who sent the messages that started it. */
  readonly askers: readonly Asker[];
  /** Messages that joined it; a step has read the first `heard` of them. */
  readonly joined: HeardMessage[];
  heard: number;
  /** What the program that asks brings along, and whether no step was made since. */
  client: ClientRequest | undefined;
  asksAnew: boolean;
  calls: ReadonlyMap<string, ToolCall>;
  block: CallBlock | null;
  /** Messages that appear once the block is complete. */
  readonly later: ConversationMessage[];
  flush: readonly ModelMessage[];
  flushing: boolean;
}

/** The sender of a turn that answers no message: Natter itself. */
const nobody: Sender = { id: 'natter', role: 'program' };

const askerOf = ({ sender, channel, deliverTo }: HeardMessage): Asker => ({ sender, channel: channel ?? deliverTo?.channel });

/** The acting sender of a turn with messages from several people. */
export const severalPeople: Sender = Object.freeze({ id: 'several', role: 'participant' });

const promptOf = (asked: readonly HeardMessage[]): string => asked.map(textForModel).join('\n\n');

export const runningTurn = (
  id: string,
  { fromSeq, asked, missing, task }: { fromSeq: number; asked: readonly HeardMessage[]; missing: number; task: string | null },
): RunningTurn => ({
  id,
  fromSeq,
  prompt: task ?? promptOf(asked),
  // What they bring along is not part of the conversation.
  asked: asked.map(({ client: _, ...message }) => message),
  isWhole: task !== null || missing === 0,
  askers: asked.length > 0 ? asked.map(askerOf) : [{ sender: nobody }],
  joined: [],
  heard: 0,
  client: asked.findLast(({ client }) => client)?.client,
  asksAnew: true,
  calls: new Map(),
  block: null,
  later: [],
  flush: [],
  flushing: false,
});

/** The program that asks has given the results of its tools. Without settings of its own that keeps all but the choice of a tool. */
export const askAnew = (turn: RunningTurn | null, { client }: EventOf<'client_results_received'>): void => {
  if (turn === null) return;
  turn.asksAnew = true;
  const { toolChoice: _, ...kept } = turn.client ?? {};
  turn.client = client ?? kept;
};

/** A turn, and what it says to the conversation when the calls of its step have ended: `messages`, then those that came meanwhile. */
interface ClosedBlock {
  readonly turn: RunningTurn;
  readonly messages: readonly ModelMessage[];
  readonly later: readonly ConversationMessage[];
}

/** The turn after a step's calls. A flush keeps them to itself. */
export const closed = (turn: RunningTurn, block: CallBlock): ClosedBlock => {
  const messages = blockMessages(block);
  const after = { ...turn, block: null, later: [] };
  return turn.flushing
    ? { turn: { ...after, flush: [...turn.flush, ...messages] }, messages: [], later: turn.later }
    : { turn: after, messages, later: turn.later };
};

/** The same, if these results, which are not recorded yet, are all that its calls wait for. */
export const withResults = (turn: RunningTurn, held: readonly CallResult[]): ClosedBlock => {
  const results = new Map(turn.block?.results);
  for (const { callId, outcome, text } of held) {
    const call = turn.block?.calls.find((made) => made.callId === callId);
    if (call) results.set(callId, { role: 'tool', callId, tool: call.tool, outcome, text });
  }
  const block = turn.block && { ...turn.block, results };
  return block && isComplete(block) ? closed(turn, block) : { turn, messages: [], later: [] };
};

/** The calls of a step, copied so that they do not retain the commit in memory. */
export const detachedCalls = (calls: readonly ToolCall[]): ToolCall[] =>
  calls.map(({ callId, tool, arguments: given }) => ({
    callId: detachedString(callId),
    tool: detachedString(tool),
    arguments: detachedString(given),
  }));

/** What the model's provider wants back with the calls of a step, copied alike. */
export const signedReasoning = ({
  model,
  reasoning = [],
}: Pick<EventOf<'model_step'>, 'model' | 'reasoning'>): SignedReasoning | undefined => {
  const signed = reasoning.filter(({ signature, redacted }) => signature !== undefined || redacted !== undefined);
  if (signed.length === 0) return undefined;
  const parts = signed.map(
    (part) => Object.fromEntries(Object.entries(part).map(([field, text]) => [field, detachedString(text)])) as ReasoningPart,
  );
  return { model: detachedString(model), parts };
};

/** The turn's flush messages after one of its steps. `text` is the step's text, or `null` if it makes calls. */
export const flushMessages = ({ flush }: RunningTurn, text: string | null): readonly ModelMessage[] => [
  ...(flush.length > 0 ? flush : [flushPrompt]),
  ...(text === null ? [] : [{ role: 'assistant', text } as const]),
];

/** Who sent the messages in the turn. A program that acts for a participant is listed twice, once in each role. */
const askersOf = ({ askers, joined }: RunningTurn): readonly Asker[] =>
  [...askers, ...joined.map(askerOf)].flatMap((asker) => {
    const { onBehalfOf: role } = asker.sender;
    return role === undefined ? [asker] : [asker, { ...asker, sender: { ...asker.sender, role } }];
  });

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

/** What a turn sees of itself. */
export const viewOfTurn = (turn: RunningTurn) => {
  const askers = askersOf(turn);
  const sender = actingSender(askers.map((asker) => asker.sender));
  const { prompt, client, asksAnew, calls, flush, flushing } = turn;
  return { prompt, sender, askers, client, asksAnew, calls, flush, flushing };
};

const personOf = ({ principal, id }: Sender): string => principal ?? id;

export const userMessage = (message: Message): ModelMessage => {
  const files = (message.attachments ?? []).filter(isKept).map(({ digest, type, bytes, name }) => ({
    ...{ digest: detachedString(digest), type: detachedString(type), bytes },
    ...(name !== undefined && { name: detachedString(name) }),
  }));
  return {
    role: 'user',
    text: textForModel(message),
    name: detachedString(nameForModel(message.sender)),
    ...(files.length > 0 && { files }),
  };
};

type Revision = EventOf<'message_edited' | 'message_withdrawn'>;

/** What counts now in the place of a message. */
const revisedMessage = (message: HeardMessage, event: Revision): HeardMessage => {
  if (event.type === 'message_edited') return { ...message, text: detachedString(event.text) };
  const { of, messageId, sender, channel = message.deliverTo?.channel } = message;
  return { of, messageId, sender, text: withdrawnText, ...(channel !== undefined && { channel }) };
};

/** A message of the conversation after an edit or a withdrawal of another, or of itself. */
export const revisedSaid = (said: ConversationMessage, event: Revision): ConversationMessage => {
  if (said.heard?.of !== event.of) return said;
  const heard = revisedMessage(said.heard, event);
  return { ...said, heard, message: userMessage(heard) };
};

/** Revises a message that the turn answers, or that no step of it has read yet. */
export const reviseTurn = (turn: RunningTurn, event: Revision): void => {
  const { asked, joined, later } = turn;
  for (const messages of [asked, joined])
    for (const [index, message] of messages.entries())
      if (message.of === event.of) messages[index] = revisedMessage(message, event);
  if (asked.some(({ of }) => of === event.of)) turn.prompt = promptOf(asked);
  for (const [index, said] of later.entries()) later[index] = revisedSaid(said, event);
};
