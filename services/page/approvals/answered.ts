import type { NatterEvent } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';

/** A call that a person was asked about, and how it was answered. */
export interface Answered {
  readonly approvalId: string;
  readonly sessionKey: string;
  readonly seq: number;
  readonly at: number;
  readonly verdict: EventOf<'approval_resolved'>['verdict'];
  readonly by: string;
  readonly reason?: string | undefined;
}

/** A question with its answer, if it has one. */
export interface Question {
  readonly approvalId: string;
  readonly sessionKey: string;
  /** The commit that asks; none where it is older than the events at hand. */
  readonly askedSeq?: number;
  readonly action?: string;
  readonly answer?: Answered;
}

/** The approvals that were answered in some events, which are newest first. */
export const answeredIn = (events: readonly NatterEvent[]): Answered[] =>
  events.flatMap((event) => {
    if (event.type !== 'approval_resolved') return [];
    const { approvalId, key: sessionKey, seq, at, verdict, by, reason } = event;
    return [{ approvalId, sessionKey, seq, at, verdict, by, reason }];
  });

/** The questions of some events, which are newest first, by the last that was recorded of each. */
export const questionsIn = (events: readonly NatterEvent[]): Question[] => {
  const questions = new Map<string, Question>();
  for (const event of events) {
    if (event.type !== 'approval_requested' && event.type !== 'approval_resolved') continue;
    const { approvalId, key: sessionKey, seq: askedSeq } = event;
    const known = questions.get(approvalId) ?? { approvalId, sessionKey };
    const [answer] = answeredIn([event]);
    questions.set(approvalId, {
      ...known,
      ...(answer && { answer }),
      ...(event.type === 'approval_requested' && { askedSeq, action: event.action }),
    });
  }
  return [...questions.values()];
};
