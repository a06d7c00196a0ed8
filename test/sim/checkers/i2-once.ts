import type { SessionEvent } from '../../../shared/session/events.ts';
import type { Checker } from '../history.ts';

/** I2: ids of commits are unique, and a command, a message, a turn and a model step take effect once. */
export const nothingHappensTwice: Checker = ({ commits }) => {
  const seen = new Map<string, number>();
  const findings: string[] = [];
  for (const { key, id, seq, command, events } of commits) {
    const once = [`commit ${id}`, `command ${command.id} of ${key}`, ...events.flatMap((event) => factOf(event) ?? [])];
    for (const fact of once) {
      const first = seen.get(fact);
      if (first !== undefined) findings.push(`${fact} took effect at ${first} and again at ${seq}`);
      seen.set(fact, seq);
    }
  }
  return findings;
};

/** What only one event may say. */
const factOf = (event: SessionEvent): string | null => {
  switch (event.type) {
    case 'user_message':
      return `message ${event.message.messageId}`;
    case 'message_refused':
      return `message ${event.messageId}`;
    case 'turn_queued':
      return `queueing of turn ${event.turn.id}`;
    case 'turn_started':
      return `start of turn ${event.turn.id}`;
    case 'turn_resumed':
      return `attempt ${event.turn.attempt} at turn ${event.turn.id}`;
    case 'model_step':
      return `step ${event.step} of turn ${event.turn.id}`;
    case 'assistant_message':
      return `answer of turn ${event.turn.id}`;
    default:
      return null;
  }
};
