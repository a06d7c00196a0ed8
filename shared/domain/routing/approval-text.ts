import type { EventOf } from '../session/events.ts';

/** A question to a person, in words (A5/62). */

/** Names of approvers that a question has room for. */
const shownApprovers = 5;

/** What a person is asked, wherever it is shown. In the chat of the session that began a run an answer would go astray, so there it names another way. */
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
