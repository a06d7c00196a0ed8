import { expect, test } from 'vitest';
import { courseOf } from '../../../services/page/time-machine/approval-course.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';

/** What the time machine says of an approval. */

const asked = (approvalId: string, action: string) => ({ type: 'approval_requested', approvalId, action });
const answered = (approvalId: string, verdict: string) => ({ type: 'approval_resolved', approvalId, verdict, by: 'ann' });
const commits = [[asked('p', 'run a')], [asked('q', 'run b')], [answered('q', 'denied'), answered('p', 'granted')]].map(
  (events, index) => ({ seq: index + 1, at: index * 10, events }) as unknown as RecordedCommit,
);

test('an approval is told with its own question and answer, wherever they stand', () => {
  expect(courseOf(commits, 'p')).toEqual({
    asked: { place: 1, at: 0, action: 'run a' },
    answer: { place: 3, at: 20, by: 'ann', verdict: 'granted' },
  });
  expect(courseOf(commits.slice(0, 2), 'q')).toEqual({ asked: { place: 2, at: 10, action: 'run b' } });
  expect(courseOf(commits, 'r')).toEqual({});
});
