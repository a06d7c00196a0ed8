import type { ContextChange, SessionContext } from './context.ts';
import type { EventOf } from './events.ts';

/** How introspection changes a session's data (A7/80–84). */

/**
 * The result of introspecting this generation, and the counts of messages and completed turns at the last checkpoint (A7/80–82).
 */
export interface IntrospectionState {
  readonly messages: number;
  readonly turns: number;
  readonly workingMemory: string;
  readonly description: string;
  /** The notes reflect everything up to this rev. */
  readonly notedRev: number;
}

/** Later messages and turns count from here. */
export const checkpointRequested = (context: SessionContext, { sessionId }: EventOf<'checkpoint_requested'>): ContextChange => {
  const { review, messages, completedTurns: turns } = context;
  return { review: sessionId === context.sessionId ? { ...review, messages, turns } : review };
};

/** The result for an earlier generation stays in the log and does not affect this one. */
export const introspected = (context: SessionContext, event: EventOf<'introspected'>): ContextChange => {
  const { review } = context;
  const { workingMemory = review.workingMemory, description = review.description } = event;
  const notedRev = Math.max(review.notedRev, event.toRev);
  return { review: event.sessionId === context.sessionId ? { ...review, workingMemory, description, notedRev } : review };
};
