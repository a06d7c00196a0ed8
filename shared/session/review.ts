import type { Change, SessionContext } from './context.ts';
import type { EventOf } from './events.ts';

/** What a session knows of looks back on it (A7/80–84). */

/** What looking back on this generation came to, and how much had been said when it was last asked for (A7/80–82). */
export interface Review {
  readonly messages: number;
  readonly turns: number;
  /** The last look back came to nothing: what it was to cover waits for the next one, whether or not more is said. */
  readonly failed?: true;
  readonly workingMemory: string;
  readonly description: string;
}

/** From here on counts what is said next. */
export const reviewAsked = (context: SessionContext, { sessionId }: EventOf<'checkpoint_requested'>): Change => {
  const { failed: _, ...review } = context.review;
  const isOurs = sessionId === context.sessionId;
  return { review: isOurs ? { ...review, messages: context.messages, turns: context.completedTurns } : context.review };
};

/** What a look back on an earlier generation came to is in the log, and says nothing of this one. */
export const reviewed = (context: SessionContext, event: EventOf<'introspected'>): Change => {
  const { failed: _, ...review } = context.review;
  const { workingMemory = review.workingMemory, description = review.description } = event;
  const isOurs = event.sessionId === context.sessionId;
  return { review: isOurs ? { ...review, workingMemory, description } : context.review };
};

export const reviewFailed = (context: SessionContext, { sessionId }: EventOf<'introspection_failed'>): Change => ({
  review: sessionId === context.sessionId ? { ...context.review, failed: true } : context.review,
});
