import type { EventOf, SessionEvent } from '../session/events.ts';

/** The events as people read them: each message as it was last edited, none that was withdrawn, and one that waited right above its answer. */
export const readableEvents = <T extends SessionEvent & { readonly id: string }>(events: readonly T[]): T[] =>
  besideAnswers(revised(events));

const revised = <T extends SessionEvent & { readonly id: string }>(events: readonly T[]): T[] => {
  const texts = new Map<string, string | null>();
  for (const event of events)
    if (event.type === 'message_edited') texts.set(event.of, event.text);
    else if (event.type === 'message_withdrawn') texts.set(event.of, null);
  return events.flatMap((event) => {
    const text = texts.get(event.id);
    if (event.type !== 'user_message' || text === undefined) return [event];
    return text === null ? [] : [{ ...event, message: { ...event.message, text } }];
  });
};

const besideAnswers = <T extends SessionEvent>(events: readonly T[]): T[] => {
  const queued = new Set(events.flatMap((event) => (event.type === 'turn_queued' ? event.turn.id : [])));
  const begun = new Set(events.flatMap((event) => (event.type === 'turn_started' ? turnsBegunBy(event) : [])));
  const waiting = new Map<string, T>();
  return events.flatMap((event) => {
    if (event.type === 'user_message' && event.turnId !== undefined && queued.has(event.turnId) && begun.has(event.turnId)) {
      waiting.set(event.turnId, event);
      return [];
    }
    if (event.type !== 'turn_started') return [event];
    const answered = turnsBegunBy(event).flatMap((id) => waiting.get(id) ?? []);
    return [...answered, event];
  });
};

/** The turn that begins, and the queued ones that it answers too. */
export const turnsBegunBy = ({ turn, merged = [] }: EventOf<'turn_started'>): string[] => [
  turn.id,
  ...merged.map(({ id }) => id),
];
