import { effect, signal } from '@preact/signals';
import type { PendingApproval } from '../../../shared/client/main.ts';
import { client, problemOf, who } from '../base/signed-in.ts';
import { onEvent } from '../base/system-events.ts';

/** All that waits for a person, the oldest first. It is read from the gateway, again and again, and never remembered by the page alone. */
export const approvals = signal<readonly PendingApproval[] | null>(null);
export const approvalsProblem = signal<string | null>(null);

/** An approver has no stream of events: the list is read in this interval as well, ms. */
const everyMs = 5_000;
const settleMs = 200;

export const readApprovals = async (): Promise<void> => {
  try {
    const found: PendingApproval[] = [];
    for await (const approval of client.approvals.list()) found.push(approval);
    approvals.value = found.sort((one, other) => one.requestedAt - other.requestedAt);
    approvalsProblem.value = null;
  } catch (error) {
    approvalsProblem.value = problemOf(error);
  }
};

const matters: ReadonlySet<string> = new Set([
  ...['approval_requested', 'approval_resolved', 'turn_aborted', 'session_reset', 'session_deleted', 'history_damaged'],
]);

export const followApprovals = (): void => {
  let settling: ReturnType<typeof setTimeout> | undefined;
  onEvent(({ type }) => {
    if (!matters.has(type)) return;
    if (settling !== undefined) return;
    settling = setTimeout(() => {
      settling = undefined;
      void readApprovals();
    }, settleMs);
  });
  effect(() => {
    if (!who.value) return undefined;
    void readApprovals();
    const timer = setInterval(() => {
      if (!document.hidden) void readApprovals();
    }, everyMs);
    return () => clearInterval(timer);
  });
};
