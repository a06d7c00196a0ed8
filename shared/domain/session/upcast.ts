import { type SessionEvent, sessionEvent } from './events.ts';

/** Converts version `v` of an event type to the next version (or to another type, if an event was renamed or split). */
type Upcaster = (event: Record<string, unknown>) => Record<string, unknown>;

/** `type@version` → its upcaster. The tests have a golden file for every released version. */
const upcasters: Readonly<Record<string, Upcaster>> = {};

/**
 * Converts a stored event to the current version, step by step, and validates it. Throws on an unknown type or version: the session is then
 * quarantined rather than folded with a gap in its history (F6).
 */
export const upcastWith =
  (steps: Readonly<Record<string, Upcaster>>) =>
  (stored: unknown): SessionEvent => {
    let event = stored as Record<string, unknown>;
    for (let step = steps[`${event?.type}@${event?.v}`]; step !== undefined; step = steps[`${event.type}@${event.v}`]) {
      event = step(event);
    }
    return sessionEvent.parse(event);
  };

export const upcast = upcastWith(upcasters);
