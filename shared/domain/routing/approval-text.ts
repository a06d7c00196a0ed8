import type { EventOf } from '../session/events.ts';
import type { ApprovalRequest } from '../values/types.ts';

/** The text of an approval request (A5/62). */

/** Approvers named in a request before `others`. */
const shownApprovers = 5;

/**
 * The text of an approval request, wherever it is shown. The session that spawned a run cannot take the answer in its chat, so
 * its text names another way.
 */
export const questionOf = (request: EventOf<'approval_requested'>, spawned: string | null): string =>
  textOf(request, spawned === null ? null : `It is the sub-agent's ${spawned}`);

/** The text that tells the owner, elsewhere, what is asked on behalf of a stranger in the session `key` (ADR 22). `pageUrl`: where the page is. */
export const ownersQuestionOf = (request: Asked, key: string, pageUrl?: string): string =>
  textOf(request, `It is for a participant in ${key}`, pageUrl);

type Asked = Pick<ApprovalRequest, 'approvalId' | 'action' | 'asks' | 'onceOnly' | 'approvers' | 'expiresAt'>;
/** `elsewhere`: why it cannot be answered in the chat where this text is read. */
const textOf = (
  { approvalId, action, asks, onceOnly, approvers = [], expiresAt }: Asked,
  elsewhere: string | null,
  pageUrl?: string,
): string => {
  const others = approvers.slice(0, shownApprovers).concat(approvers.length > shownApprovers ? ['others'] : []);
  const always = onceOnly || asks === 'retry' ? '' : `, "/approve ${approvalId} always"`;
  const answer =
    elsewhere === null
      ? `Answer "/approve ${approvalId}"${always} or "/deny ${approvalId}" and a reason.`
      : `${elsewhere}; answer with: natter approvals resolve ${approvalId} allow-once (or deny)`;
  return [
    `Approval needed: ${action}`,
    ...(asks === 'retry' ? ['It was begun and cut off, and may have taken effect; approve it to do it once more.'] : []),
    answer,
    ...(pageUrl === undefined ? [] : [`On the page: ${pageUrl}/#/approvals/${approvalId}`]),
    `The owner may answer${others.map((name) => `, ${name}`).join('')}, until ${utc(expiresAt)} UTC.`,
  ].join('\n');
};

/** `2026-03-04 12:00`. */
const utc = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
