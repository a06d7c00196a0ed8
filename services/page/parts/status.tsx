import type { SessionRow } from '../../../shared/client/main.ts';
import { ErrorMark } from './icon.tsx';

export type Status = SessionRow['status'];

/** The statuses of the API and the state machine, as words. */
export const statusWords: Readonly<Record<Status, string>> = {
  idle: 'Idle',
  running: 'Running',
  awaiting_approval: 'Awaiting approval',
  awaiting_results: 'Awaiting results',
  inactive: 'Inactive',
};

/** The same of a session as it is now: one that is inactive was archived. In the past it may be one that was not there yet, or no more. */
export const sessionStatusWords: Readonly<Record<Status, string>> = { ...statusWords, inactive: 'Archived' };

export const lastFailed = 'Last answer failed';

/** How many answers have failed since the last reset or fork. */
export const failedAnswers = (answers: number): string => (answers === 1 ? '1 answer failed' : `${answers} answers failed`);

interface StatusProps {
  readonly status: Status;
  /** Its last answer failed, which is said in place of the status. */
  readonly hasFailed?: boolean;
  /** It is that of a moment of the past. Default: that of now. */
  readonly isPast?: boolean;
}

/** The status as a dot; its word is there for those who cannot see colours. */
export const StatusDot = ({ status, hasFailed = false }: Omit<StatusProps, 'isPast'>) => (
  <span class={`dot dot-${hasFailed ? 'failed' : status}`}>
    <span class="unseen">{hasFailed ? lastFailed : sessionStatusWords[status]}</span>
  </span>
);

/** The status in words, of which a narrow head of a session shows the first. */
export const StatusBadge = ({ status, hasFailed = false, isPast = false }: StatusProps) => {
  if (hasFailed)
    return (
      <span class="badge badge-fail">
        <ErrorMark />
        <span class="badge-words">{lastFailed}</span>
      </span>
    );
  const [first, ...more] = (isPast ? statusWords : sessionStatusWords)[status].split(' ');
  return (
    <span class={`badge badge-${status}`}>
      {first}
      {more.length > 0 && <span class="badge-words"> {more.join(' ')}</span>}
    </span>
  );
};
