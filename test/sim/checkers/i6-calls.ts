import type { EventOf } from '../../../shared/domain/session/events.ts';
import { type Checker, type Effect, type History, lostIds, newSince } from '../history.ts';
import { natures } from '../world/tools.ts';

/** A beginning of a call that is in the log. */
export interface Begun {
  readonly seq: number;
  readonly event: EventOf<'tool_call_started'>;
}
const nameOf = (key: string, callId: string, attempt: number): string => `${key} ${callId} in attempt ${attempt}`;

/** The beginnings of a history by session, call and attempt: several where a turn was lost and began anew (F13). */
export type Beginnings = ReadonlyMap<string, readonly Begun[]>;
export const beginningsOf = ({ commits }: Pick<History, 'commits'>): Beginnings => {
  const begun = new Map<string, Begun[]>();
  for (const { key, seq, events } of commits) {
    for (const event of events) {
      if (event.type !== 'tool_call_started') continue;
      const name = nameOf(key, event.callId, event.turn.attempt);
      begun.set(name, [...(begun.get(name) ?? []), { seq, event }]);
    }
  }
  return begun;
};
/** The one that an effect followed. */
export const beginningOf = (begun: Beginnings, { key, callId, turn, at }: Effect): Begun | undefined =>
  begun.get(nameOf(key, callId, turn.attempt))?.findLast(({ seq }) => seq <= at);

/**
 * I6: each effect of a tool has a recorded beginning before it, of its own attempt, and there is one effect to one beginning at most. A call
 * that must not have its effect twice begins again only when a person has said so, and whatever is called done has been done. In the same
 * attempt a call begins again only after a person's decision about the damage that its turn was lost in (F13).
 */
export const callsHaveIntents: Checker = (history) => {
  const begun = beginningsOf(history);
  const lost = lostIds(history);
  /** How often each was made. */
  const made = new Map<string, number>();
  const wrong = history.effects.flatMap((effect) => {
    const name = nameOf(effect.key, effect.callId, effect.turn.attempt);
    const intents = (begun.get(name) ?? []).filter(({ seq }) => seq <= effect.at).length;
    const times = (made.get(name) ?? 0) + 1;
    made.set(name, times);
    if (intents === 0) return [`${effect.host} made ${name} at ${effect.at} without a recorded intent`];
    return times > intents ? [`${effect.host} made ${name} a second time`] : [];
  });
  const repeated = [...begun].flatMap(([name, beginnings]) =>
    beginnings.flatMap(({ seq, event }, index) => {
      const before = beginnings[index - 1];
      if (before !== undefined && newSince(lost, event.turn.id, seq) <= before.seq) return [`${name} began twice`];
      const may = event.callAttempt === 1 || event.approvalId !== undefined || natures[event.tool]?.idempotent;
      return may ? [] : [`${name} began again although nobody said so`];
    }),
  );
  const idle = history.commits.flatMap(({ key, seq, events }) =>
    events.flatMap((event) =>
      event.type === 'tool_result' && event.outcome === 'ok' && !made.has(nameOf(key, event.callId, event.turn.attempt))
        ? [`${key}: ${event.callId} is called done at ${seq}, and was not`]
        : [],
    ),
  );
  return [...wrong, ...repeated, ...idle];
};
