import type { SessionRow } from '../../../shared/client/main.ts';

export type Status = SessionRow['status'];

export const statusWords: Readonly<Record<Status, string>> = {
  idle: 'Idle',
  running: 'Answering',
  awaiting_approval: 'Needs approval',
  awaiting_results: 'Waits for a program',
  inactive: 'Archived',
};

/** The status as a dot; its word is there for those who cannot see colours. */
export const StatusDot = ({ status, hasFailed = false }: { readonly status: Status; readonly hasFailed?: boolean }) => (
  <span class={`dot dot-${hasFailed ? 'failed' : status}`}>
    <span class="unseen">{statusWords[status]}</span>
  </span>
);

export const StatusBadge = ({ status }: { readonly status: Status }) => (
  <span class={`badge badge-${status}`}>{statusWords[status]}</span>
);
