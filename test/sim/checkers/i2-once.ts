import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { byKey, type Checker } from '../history.ts';

/** I2, D9: ids of commits are unique, and a command, a message, a turn and a model step take effect once, however late it comes again. */
export const nothingHappensTwice: Checker = (history) => [
  ...repeats(history.commits.map(({ id, seq }) => ({ fact: `commit ${id}`, seq }))),
  ...[...byKey(history)].flatMap(([key, commits]) => keyRepeats(key, commits)),
];

interface Fact {
  readonly fact: string;
  readonly seq: number;
}

const repeats = (facts: readonly Fact[]): string[] => {
  const seen = new Map<string, number>();
  return facts.flatMap(({ fact, seq }) => {
    const first = seen.get(fact);
    seen.set(fact, seq);
    return first === undefined ? [] : [`${fact} took effect at ${first} and again at ${seq}`];
  });
};

const keyRepeats = (key: string, commits: readonly RecordedCommit[]): string[] => {
  // A person's decision about damage voids what the session remembers (F13): what was before it may come again.
  const decided = commits.findLastIndex(({ events }) => events[0]?.type === 'history_damaged');
  const facts = commits.slice(Math.max(0, decided)).flatMap(({ seq, command, events }) =>
    [`command ${command.id} of ${key}`, ...events.flatMap((event) => factOf(event) ?? [])].map((fact) => ({ fact, seq })),
  );
  return repeats(facts);
};

const messageIdOf = (event: SessionEvent): string | null => {
  if (event.type === 'user_message') return event.message.messageId;
  return event.type === 'message_refused' ? event.messageId : null;
};

/** What only one event may say. */
const factOf = (event: SessionEvent): string | null => {
  switch (event.type) {
    case 'user_message':
    case 'message_refused':
      return `message ${messageIdOf(event)}`;
    case 'turn_queued':
      return `queueing of turn ${event.turn.id}`;
    case 'turn_started':
      return `start of turn ${event.turn.id}`;
    case 'turn_resumed':
      return `attempt ${event.turn.attempt} at turn ${event.turn.id}`;
    case 'model_step':
      return `step ${event.step} of turn ${event.turn.id}`;
    case 'assistant_message':
      return `answer ${event.messageId}`;
    default:
      return null;
  }
};
