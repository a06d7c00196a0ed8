import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { byKey, type Checker, lostIds } from '../history.ts';

/**
 * I2, D9: ids of commits are unique, and a command, a message, a turn and a model step take effect once, however late it comes again. Only what
 * was in a lost commit may take effect again, after a person's decision about it (F13).
 */
export const nothingHappensTwice: Checker = (history) => {
  const lost = lostIds(history);
  return [
    ...repeats(
      history.commits.map(({ id, seq }) => ({ fact: `commit ${id}`, about: id, seq })),
      new Map(),
    ),
    ...[...byKey(history)].flatMap(([key, commits]) => repeats(factsOf(key, commits), lost)),
  ];
};

interface Fact {
  readonly fact: string;
  /** The command, message or turn. */
  readonly about: string;
  readonly seq: number;
}

const repeats = (facts: readonly Fact[], lost: ReadonlyMap<number, ReadonlySet<string>>): string[] => {
  const seen = new Map<string, Fact>();
  return facts.flatMap((one) => {
    const forgotten = lost.get(one.seq);
    if (forgotten !== undefined) for (const { fact, about } of [...seen.values()]) if (forgotten.has(about)) seen.delete(fact);
    const first = seen.get(one.fact);
    seen.set(one.fact, one);
    return first === undefined ? [] : [`${one.fact} took effect at ${first.seq} and again at ${one.seq}`];
  });
};

const factsOf = (key: string, commits: readonly RecordedCommit[]): Fact[] =>
  commits.flatMap(({ seq, command: { id }, events }) =>
    [{ fact: `command ${id} of ${key}`, about: id }, ...events.flatMap((event) => factOf(event) ?? [])].map((fact) => ({
      ...fact,
      seq,
    })),
  );

/** What only one event may say. */
const factOf = (event: SessionEvent): Omit<Fact, 'seq'> | null => {
  switch (event.type) {
    case 'user_message':
      return { fact: `message ${event.message.messageId}`, about: event.message.messageId };
    case 'message_refused':
      return { fact: `message ${event.messageId}`, about: event.messageId };
    case 'turn_queued':
      return { fact: `queueing of turn ${event.turn.id}`, about: event.turn.id };
    case 'turn_started':
      return { fact: `start of turn ${event.turn.id}`, about: event.turn.id };
    case 'turn_resumed':
      return { fact: `attempt ${event.turn.attempt} at turn ${event.turn.id}`, about: event.turn.id };
    case 'model_step':
      return { fact: `step ${event.step} of turn ${event.turn.id}`, about: event.turn.id };
    case 'assistant_message':
      return { fact: `answer ${event.messageId}`, about: event.turn.id };
    default:
      return null;
  }
};
