import { readThrough } from '../../shared/kit/read-through.ts';
import type { Clock, EventLog, ModelMessage } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { EventOf } from '../../shared/session/events.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';

type Message = EventOf<'user_message'>['message'];

/** Where a turn stands in the log: the message it answers, the steps it has finished, the conversation before it. */
export interface Transcript {
  readonly prompt: string;
  readonly steps: readonly string[];
  readonly messages: readonly ModelMessage[];
}

/** How far the session has come: the sequence of its last commit, and those of its last commits with messages, see `Position`. */
export interface Reach {
  readonly seq: number;
  readonly window: readonly number[];
}

/**
 * Reads what a turn needs, at least up to where the session is. `window` holds the sequences of the session's last commits with messages:
 * reading starts there, so the cost of a turn does not grow with the session. A turn that waited in the queue longer than the window reaches is found by reading everything.
 */
export const readTranscript = async (
  log: { readonly events: EventLog; readonly clock: Clock },
  key: SessionKey,
  turn: { id: string; messageId: string },
  { seq: through, window }: Reach,
): Promise<Transcript> => {
  const recent = await collect(readThrough(log, key, { after: (window[0] ?? 1) - 1, through }), turn);
  if (recent !== null) return recent;
  const whole = await collect(readThrough(log, key, { after: 0, through }), turn);
  if (whole === null) throw new Error(`message ${turn.messageId} of turn ${turn.id} is not in the log of ${key}`);
  return whole;
};

/**
 * A message that asks for a turn is heard when its turn begins: one that waited comes after the answers given meanwhile, and one whose turn
 * never began is not heard (A5/70, A11/125). The others are heard when they are said (A5/69).
 */
const collect = async (
  commits: AsyncIterable<RecordedCommit>,
  turn: { id: string; messageId: string },
): Promise<Transcript | null> => {
  const waiting = new Map<string, Message>();
  let messages: ModelMessage[] = [];
  const steps: string[] = [];
  let prompt: string | null = null;
  const hear = (message: Message): void => {
    messages.push({ role: 'user', text: message.text, name: message.sender.name ?? message.sender.id });
    if (message.messageId === turn.messageId) prompt = message.text;
  };
  for await (const { events } of commits) {
    for (const event of events) {
      if (event.type === 'model_step' && event.turn.id === turn.id) steps.push(event.text);
      if (prompt !== null) continue;
      if (event.type === 'session_reset' || event.type === 'session_deleted') messages = [];
      if (event.type === 'assistant_message') messages.push({ role: 'assistant', text: event.text });
      if (event.type === 'user_message' && event.turnId === undefined) hear(event.message);
      if (event.type === 'user_message' && event.turnId !== undefined) waiting.set(event.turnId, event.message);
      const begun = event.type === 'turn_started' ? waiting.get(event.turn.id) : undefined;
      if (begun !== undefined) hear(begun);
    }
  }
  return prompt === null ? null : { prompt, steps, messages };
};
