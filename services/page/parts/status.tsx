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

export const lastFailed = 'Last answer failed';

interface StatusProps {
  readonly status: Status;
  /** Its last answer failed, which is said in place of the status. */
  readonly hasFailed?: boolean;
}

/** The status as a dot; its word is there for those who cannot see colours. */
export const StatusDot = ({ status, hasFailed = false }: StatusProps) => (
  <span class={`dot dot-${hasFailed ? 'failed' : status}`}>
    <span class="unseen">{hasFailed ? lastFailed : statusWords[status]}</span>
  </span>
);

export const StatusBadge = ({ status, hasFailed = false }: StatusProps) =>
  hasFailed ? (
    <span class="badge badge-fail">
      <ErrorMark />
      <span class="badge-words">{lastFailed}</span>
    </span>
  ) : (
    <span class={`badge badge-${status}`}>{statusWords[status]}</span>
  );
