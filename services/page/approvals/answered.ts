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
  /** What was asked for; none where the question is older than the events at hand. */
  readonly action?: string | undefined;
}

/** The approvals that were answered in some events, which are newest first. */
export const answeredIn = (events: readonly NatterEvent[]): Answered[] => {
  const asked = new Map(
    events.flatMap((event) => (event.type === 'approval_requested' ? [[event.approvalId, event.action] as const] : [])),
  );
  return events.flatMap((event) => {
    if (event.type !== 'approval_resolved') return [];
    const { approvalId, key: sessionKey, seq, at, verdict, by, reason } = event;
    return [{ approvalId, sessionKey, seq, at, verdict, by, reason, action: asked.get(approvalId) }];
  });
};
