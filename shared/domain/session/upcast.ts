import { type SessionEvent, sessionEvent } from './events.ts';

/** One step from version `v` of an event type to the next version of it (or of another type, when an event was renamed or split). */
type Upcaster = (event: Record<string, unknown>) => Record<string, unknown>;

/** `type@version` → the step to the next version. Every version ever released has a golden file in the tests. */
const upcasters: Readonly<Record<string, Upcaster>> = {};

/**
 * Brings a stored event to the current version and checks it. An unknown type or version throws: the session is quarantined rather
 * than folded with a hole in its history (F6).
 */
export const upcast = (stored: unknown): SessionEvent => {
  let event = stored as Record<string, unknown>;
  for (let step = upcasters[`${event?.type}@${event?.v}`]; step !== undefined; step = upcasters[`${event.type}@${event.v}`]) {
    event = step(event);
  }
  return sessionEvent.parse(event);
};
