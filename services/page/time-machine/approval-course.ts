import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';

/** What one approval asked for and how it was answered, with the place of each commit. */
export interface ApprovalCourse {
  readonly asked?: { readonly place: number; readonly at: number; readonly action: string };
  readonly answer?: {
    readonly place: number;
    readonly at: number;
    readonly by: string;
    readonly verdict: EventOf<'approval_resolved'>['verdict'];
  };
}

/** The course of an approval in a session's commits. */
export const courseOf = (commits: readonly RecordedCommit[], approvalId: string): ApprovalCourse => {
  let course: ApprovalCourse = {};
  for (const [index, { at, events }] of commits.entries())
    for (const event of events) {
      const place = index + 1;
      if (event.type === 'approval_requested' && event.approvalId === approvalId)
        course = { ...course, asked: { place, at, action: event.action } };
      if (event.type === 'approval_resolved' && event.approvalId === approvalId)
        course = { ...course, answer: { place, at, by: event.by, verdict: event.verdict } };
    }
  return course;
};
