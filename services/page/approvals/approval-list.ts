import { effect, signal } from '@preact/signals';
import type { PendingApproval } from '../../../shared/client/main.ts';
import { client, isApprover, problemOf, who } from '../base/signed-in.ts';
import { onEvent, streamProblem } from '../base/system-events.ts';

/** All that waits for a person, the oldest first. It is read from the gateway whenever an event tells of it, and never remembered by the page alone. */
export const approvals = signal<readonly PendingApproval[] | null>(null);
export const approvalsProblem = signal<string | null>(null);

/** How often the list is read where no event tells of it: an approver has no stream of events, and any may be cut off. ms. */
const everyMs = 5_000;
/** Where events tell of it, it is still read so often after one, as the gateway may list an approval later than it tells of it. */
const readsAfterEvent = 3;
/** And otherwise once in so many intervals, whatever was missed. */
const quietIntervals = 12;
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

const hasStream = (): boolean => !isApprover() && streamProblem.peek() === null;

export const followApprovals = (): void => {
  let intervals = 0;
  let settling: ReturnType<typeof setTimeout> | undefined;
  onEvent(({ type }) => {
    if (!matters.has(type)) return;
    intervals = 0;
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
      if (document.hidden) return;
      intervals += 1;
      if (!hasStream() || intervals <= readsAfterEvent || intervals % quietIntervals === 0) void readApprovals();
    }, everyMs);
    return () => clearInterval(timer);
  });
};
