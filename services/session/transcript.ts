import type { Clock, EventLog, ModelMessage } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';
import { readThrough } from './read-through.ts';

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
 * Reads what a turn needs, at least up to where the session is. `window` holds the sequences of the session's last commits with messages: reading starts there, so the cost of a
 * turn does not grow with the session. A turn that waited in the queue longer than the window reaches is found by reading everything.
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

const collect = async (
  commits: AsyncIterable<RecordedCommit>,
  turn: { id: string; messageId: string },
): Promise<Transcript | null> => {
  const messages: ModelMessage[] = [];
  const steps: string[] = [];
  let prompt: string | null = null;
  for await (const commit of commits) {
    for (const event of commit.events) {
      if (event.type === 'session_reset' || event.type === 'session_deleted') messages.length = 0;
      if (event.type === 'model_step' && event.turn.id === turn.id) steps.push(event.text);
      const said = prompt === null ? messageOf(event) : null;
      if (said !== null) messages.push(said);
      if (event.type === 'user_message' && event.message.messageId === turn.messageId) prompt = event.message.text;
    }
  }
  return prompt === null ? null : { prompt, steps, messages };
};

const messageOf = (event: RecordedCommit['events'][number]): ModelMessage | null => {
  if (event.type === 'assistant_message') return { role: 'assistant', text: event.text };
  if (event.type !== 'user_message') return null;
  const { sender, text } = event.message;
  return { role: 'user', text, name: sender.name ?? sender.id };
};
