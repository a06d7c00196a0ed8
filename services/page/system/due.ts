import type { PendingApproval, SessionRow, WaitingDelivery } from '../../../shared/client/main.ts';
import { nameOfKey } from '../sessions/session-name.ts';

/** Something that happens by the clock. */
export interface Due {
  readonly id: string;
  readonly at: number;
  /** What happens, as a sentence. */
  readonly what: string;
  /** Whose session it is about. */
  readonly session?: { readonly key: string; readonly name: string };
}

interface Known {
  readonly approvals: readonly PendingApproval[];
  readonly rows: readonly SessionRow[];
  readonly waiting: readonly WaitingDelivery[];
}

const actionWidth = 60;

/** What happens next, the soonest first. */
export const dueNext = ({ approvals, rows, waiting }: Known): readonly Due[] => {
  const sessionOf = (key: string) => ({ key, name: nameOfKey(key, rows) });
  const questions = approvals.map(({ approvalId, expiresAt, sessionKey, action }): Due => {
    const what = `Nobody can allow “${action.slice(0, actionWidth)}” any more: the question expires.`;
    return { id: approvalId, at: expiresAt, what, session: sessionOf(sessionKey) };
  });
  const results = rows.flatMap(({ key, resultsUntil }): readonly Due[] => {
    const what = 'The answer ends, unless the program that it waits for gives its results.';
    return resultsUntil === undefined ? [] : [{ id: `results ${key}`, at: resultsUntil, what, session: sessionOf(key) }];
  });
  const repeats = waiting.map(({ channel, to, accountId, until }): Due => {
    const whom = to === undefined ? 'What waits' : `What waits for ${to}`;
    const account = accountId === undefined ? '' : `, from the account ${accountId}`;
    return { id: `${channel} ${accountId} ${to}`, at: until, what: `${whom} on ${channel} is tried again${account}.` };
  });
  return [...questions, ...results, ...repeats].sort((one, other) => one.at - other.at);
};
