import type { NatterEvent } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';

/** What ended a question, or a call, before its time. */
export type Cut = 'stopped' | 'failed' | 'completed' | 'reset' | 'forked' | 'deleted' | 'damaged';

/** What the log tells of a question from its asking on: who answered it, and what became of the call. */
export interface Ending {
  readonly answer?: Pick<EventOf<'approval_resolved'>, 'verdict' | 'by' | 'reason'> & {
    readonly seq: number;
    readonly at: number;
  };
  /** Nobody answered it, and nobody can any more. */
  readonly unanswered?: { readonly by: Cut; readonly seq: number; readonly at: number };
  /** It was begun, and that is the last that was recorded of it. */
  readonly begunAt?: number;
  readonly result?: Pick<EventOf<'tool_result'>, 'outcome' | 'text'> & { readonly at: number };
  /** It was allowed, and this came before a result of it. */
  readonly cut?: { readonly by: Cut; readonly at: number };
  /** Nothing more is to come. */
  readonly isOver: boolean;
}

export const turnCuts: Readonly<Record<string, Cut>> = {
  turn_aborted: 'stopped',
  turn_failed: 'failed',
  turn_completed: 'completed',
};
const sessionCuts: Readonly<Record<string, Cut>> = { session_deleted: 'deleted', history_damaged: 'damaged' };

/** The events that an ending is told of. */
export const endingTypes = [
  ...['approval_requested', 'approval_resolved', 'tool_call_started', 'tool_result', 'session_reset'],
  ...[...Object.keys(turnCuts), ...Object.keys(sessionCuts)],
];

/** What ends all that a session waits for. */
export const sessionCutBy = (event: NatterEvent): Cut | undefined =>
  event.type === 'session_reset' ? (event.forkedFrom === undefined ? 'reset' : 'forked') : sessionCuts[event.type];

/** What an event ends that the session waits for, or that the turn `turnId` does. */
const cutBy = (event: NatterEvent, turnId: string | undefined): Cut | undefined => {
  const isOfTurn = 'turn' in event && event.turn.id === turnId;
  return isOfTurn ? turnCuts[event.type] : sessionCutBy(event);
};

/** How a person answered, and when. */
export const answerIn = ({
  verdict,
  by,
  reason,
  seq,
  at,
}: NatterEvent & EventOf<'approval_resolved'>): NonNullable<Ending['answer']> => ({ verdict, by, reason, seq, at });

/** How an approval ended, by a session's events in order, which begin with its question or its answer. */
export const endingOf = (events: readonly NatterEvent[], approvalId: string): Ending => {
  let ending: Ending = { isOver: false };
  // No turn waits for a deferred question; once it is allowed, a turn of its own makes the call.
  let [callId, turnId]: (string | undefined)[] = [];
  let isKnown = false;
  for (const event of events) {
    const { seq, at } = event;
    if (event.type === 'approval_requested' && event.approvalId === approvalId) {
      [callId, turnId, isKnown] = [event.callId, event.deferred === undefined ? event.turn.id : undefined, true];
    } else if (event.type === 'approval_resolved' && event.approvalId === approvalId) {
      [callId, turnId, isKnown] = [event.callId ?? callId, event.turn.id, true];
      ending = { ...ending, answer: answerIn(event), isOver: event.verdict !== 'granted' || callId === undefined };
    } else if (isKnown && event.type === 'tool_call_started' && event.callId === callId && ending.answer !== undefined) {
      ending = { ...ending, begunAt: at };
    } else if (isKnown && event.type === 'tool_result' && event.callId === callId && ending.answer !== undefined) {
      const { outcome, text } = event;
      return { ...ending, result: { outcome, text, at }, isOver: true };
    } else if (isKnown && !ending.isOver) {
      const cut = cutBy(event, turnId);
      // A reset or a fork stops the answer with the same commit.
      const whole = events.filter((other) => other.seq === seq).map(sessionCutBy);
      const by = cut && (whole.find((each) => each !== undefined) ?? cut);
      if (by !== undefined)
        return ending.answer === undefined
          ? { unanswered: { by, seq, at }, isOver: true }
          : { ...ending, cut: { by, at }, isOver: true };
    }
  }
  return ending;
};

/** What came first, as the end of a sentence. */
export const cutWords: Readonly<Record<Cut, string>> = {
  stopped: 'the agent was stopped',
  failed: 'the agent failed to answer',
  completed: 'the agent ended its answer',
  reset: 'the session was reset',
  forked: 'the session was forked',
  deleted: 'the session was deleted',
  damaged: 'the session was found damaged',
};
