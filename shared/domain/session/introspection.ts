import type { ContextChange, SessionContext } from './context.ts';
import type { EventOf } from './events.ts';

/** What a session knows of looks back on it (A7/80–84). */

/** What looking back on this generation came to, and how much had been said when it was last asked for (A7/80–82). */
export interface Review {
  readonly messages: number;
  readonly turns: number;
  readonly workingMemory: string;
  readonly description: string;
  /** What the notes know of: up to this rev. */
  readonly notedRev: number;
}

/** From here on counts what is said next. */
export const checkpointRequested = (context: SessionContext, { sessionId }: EventOf<'checkpoint_requested'>): ContextChange => {
  const { review, messages, completedTurns: turns } = context;
  return { review: sessionId === context.sessionId ? { ...review, messages, turns } : review };
};

/** What a look back on an earlier generation came to is in the log, and says nothing of this one. */
export const introspected = (context: SessionContext, event: EventOf<'introspected'>): ContextChange => {
  const { review } = context;
  const { workingMemory = review.workingMemory, description = review.description } = event;
  const notedRev = Math.max(review.notedRev, event.toRev);
  return { review: event.sessionId === context.sessionId ? { ...review, workingMemory, description, notedRev } : review };
};
