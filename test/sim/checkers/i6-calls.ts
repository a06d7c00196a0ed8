import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { Checker, Effect, History } from '../history.ts';
import { natures } from '../world/tools.ts';

/** A beginning of a call that is in the log. */
export interface Begun {
  readonly seq: number;
  readonly event: EventOf<'tool_call_started'>;
}
const nameOf = (key: string, callId: string, attempt: number): string => `${key} ${callId} in attempt ${attempt}`;

/** The beginnings of a history by session, call and attempt. */
export const beginningsOf = ({ commits }: Pick<History, 'commits'>): Map<string, Begun> =>
  new Map(
    commits.flatMap(({ key, seq, events }) =>
      events.flatMap((event): [string, Begun][] =>
        event.type === 'tool_call_started' ? [[nameOf(key, event.callId, event.turn.attempt), { seq, event }]] : [],
      ),
    ),
  );
export const beginningOf = (begun: ReadonlyMap<string, Begun>, { key, callId, turn }: Effect): Begun | undefined =>
  begun.get(nameOf(key, callId, turn.attempt));

/**
 * I6: each effect of a tool has a recorded beginning before it, of its own attempt, and there is one effect to one beginning at most. A call
 * that must not have its effect twice begins again only when a person has said so, and whatever is called done has been done.
 */
export const callsHaveIntents: Checker = (history) => {
  const begun = beginningsOf(history);
  const made = new Set<string>();
  const wrong = history.effects.flatMap((effect) => {
    const name = nameOf(effect.key, effect.callId, effect.turn.attempt);
    const intent = beginningOf(begun, effect);
    const again = made.has(name);
    made.add(name);
    return [
      ...(intent === undefined || intent.seq > effect.at
        ? [`${effect.host} made ${name} at ${effect.at} without a recorded intent`]
        : []),
      ...(again ? [`${effect.host} made ${name} a second time`] : []),
    ];
  });
  const repeated = [...begun].flatMap(([name, { event }]) => {
    const may = event.callAttempt === 1 || event.approvalId !== undefined || natures[event.tool]?.idempotent;
    return may ? [] : [`${name} began again although nobody said so`];
  });
  const idle = history.commits.flatMap(({ key, seq, events }) =>
    events.flatMap((event) =>
      event.type === 'tool_result' && event.outcome === 'ok' && !made.has(nameOf(key, event.callId, event.turn.attempt))
        ? [`${key}: ${event.callId} is called done at ${seq}, and was not`]
        : [],
    ),
  );
  return [...wrong, ...repeated, ...idle];
};
