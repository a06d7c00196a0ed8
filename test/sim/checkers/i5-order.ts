import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { TurnRef } from '../../../shared/domain/values/types.ts';
import { byKey, type Checker, lostIds, type Sent } from '../history.ts';

/** I5: epochs and attempts never go back, and what one client was told is durable takes effect in that order. */
export const nothingGoesBack: Checker = (history) => {
  const sent = new Map(history.sent.map((one) => [one.envelope.id, one]));
  const lost = lostIds(history);
  // What was refused while its session was read-only takes effect when somebody sends it again.
  const refused = history.told.flatMap(({ answer }) => (answer.code === 'damaged' ? [answer.commandId] : []));
  return [...byKey(history)].flatMap(([key, commits]) => [
    ...epochs(key, commits),
    ...attempts(commits, lost),
    ...clients(key, commits, sent, lost, refused),
  ]);
};

const epochs = (key: string, commits: readonly RecordedCommit[]): string[] =>
  commits.flatMap(({ epoch, seq }, index) => {
    const before = commits[index - 1]?.epoch ?? 0;
    return epoch >= before ? [] : [`${key}: epoch ${epoch} at ${seq} follows epoch ${before}`];
  });

type Lost = ReturnType<typeof lostIds>;

const attempts = (commits: readonly RecordedCommit[], lost: Lost): string[] => {
  const newest = new Map<string, number>();
  return commits.flatMap(({ seq, events }) => {
    for (const id of lost.get(seq) ?? []) newest.delete(id);
    return events.flatMap((event) => {
      const ref = refOf(event);
      if (ref === null) return [];
      const before = newest.get(ref.id) ?? 0;
      newest.set(ref.id, Math.max(before, ref.attempt));
      return ref.attempt >= before ? [] : [`${event.type} at ${seq} is of attempt ${ref.attempt} at ${ref.id}, after ${before}`];
    });
  });
};

const refOf = (event: SessionEvent): TurnRef | null => {
  if (event.type === 'turn_started') return { id: event.turn.id, attempt: event.attempt };
  return 'turn' in event && 'attempt' in event.turn ? event.turn : null;
};

const clients = (
  key: string,
  commits: readonly RecordedCommit[],
  sent: ReadonlyMap<string, Sent>,
  lost: Lost,
  refused: readonly string[],
): string[] => {
  const last = new Map<string, number>();
  const mayComeLater = new Set(refused);
  return commits.flatMap(({ seq, command, events }) => {
    for (const id of lost.get(seq) ?? []) mayComeLater.add(id);
    const { client, order } = sent.get(command.id) ?? { client: '', order: null };
    // Only messages take effect whenever they come first; a `stop` may find nothing to stop, and be sent again.
    const speaks = events.some(({ type }) => type === 'user_message' || type === 'message_refused');
    if (order === null || !speaks || mayComeLater.has(command.id)) return [];
    const before = last.get(client) ?? -1;
    last.set(client, Math.max(before, order));
    return order > before
      ? []
      : [`${key}: ${command.id} of ${client} at ${seq} was acknowledged before one that took effect first`];
  });
};
