import { useMemo } from 'preact/hooks';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { approvals } from '../approvals/approval-list.ts';
import { actionText } from '../approvals/command-line.ts';
import { linkTo } from '../base/route.ts';
import { decidedText } from '../parts/person.ts';
import type { Past } from '../past/past.ts';
import { courseOf } from './approval-course.ts';

const verdictWords = { granted: 'allowed', denied: 'denied', expired: 'expired' } as const;

/** What an approval waited for and how it was answered, seen from the chosen moment; each leads to the other. */
export const ApprovalMoment = ({ past, approvalId }: { readonly past: Past; readonly approvalId: string }) => {
  const [count, place] = [past.count.value, past.place.value];
  const { asked, answer } = useMemo(() => courseOf(past.timeline.commits, approvalId), [past, approvalId, count]);
  if (asked === undefined) return null;
  const after = answer && `after ${spanText(answer.at - asked.at)}`;
  const words =
    answer &&
    (answer.verdict === 'expired' ? `expired ${after}` : `${verdictWords[answer.verdict]} ${decidedText(answer.by)} ${after}`);
  const isOpen = approvals.value?.some((waiting) => waiting.approvalId === approvalId) ?? false;
  const other = place < (answer?.place ?? 0) ? answer?.place : asked.place;
  return (
    <p class="moment-waits">
      {place < (answer?.place ?? Number.POSITIVE_INFINITY) ? 'Waits' : 'Waited'} for a person: {actionText(asked.action)}.{' '}
      {words !== undefined ? `It was ${words}.` : isOpen ? 'Nobody has answered yet.' : 'No answer is recorded.'}{' '}
      {other !== undefined && other !== place && (
        <button type="button" class="button button-quiet" onClick={() => past.goTo(other)}>
          {other === asked.place ? 'Show the question' : 'Show the answer'}
        </button>
      )}
      {past.isLive && isOpen && (
        <a class="button" href={linkTo(['approvals', approvalId])}>
          Answer it under Approvals
        </a>
      )}
    </p>
  );
};
