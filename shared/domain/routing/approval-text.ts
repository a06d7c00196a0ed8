import type { EventOf } from '../session/events.ts';

/** The text of an approval request (A5/62). */

/** Approvers named in a request before `others`. */
const shownApprovers = 5;

/**
 * The text of an approval request, wherever it is shown. The session that spawned a run cannot take the answer in its chat, so
 * its text names another way.
 */
export const questionOf = (request: EventOf<'approval_requested'>, spawned: string | null): string => {
  const { approvalId, action, asks, onceOnly, approvers = [], expiresAt } = request;
  const others = approvers.slice(0, shownApprovers).concat(approvers.length > shownApprovers ? ['others'] : []);
  const always = onceOnly || asks === 'retry' ? '' : `, "/approve ${approvalId} always"`;
  const answer =
    spawned === null
      ? `Answer "/approve ${approvalId}"${always} or "/deny ${approvalId}" and a reason.`
      : `It is the sub-agent's ${spawned}; answer with: natter approvals resolve ${approvalId} allow-once (or deny)`;
  return [
    `Approval needed: ${action}`,
    ...(asks === 'retry' ? ['It was begun and cut off, and may have taken effect; approve it to do it once more.'] : []),
    answer,
    `The owner may answer${others.map((name) => `, ${name}`).join('')}, until ${utc(expiresAt)} UTC.`,
  ].join('\n');
};

/** `2026-03-04 12:00`. */
const utc = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
