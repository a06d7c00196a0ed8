import type { PendingApproval, ScheduledMessage, SessionRow, WaitingDelivery } from '../../../shared/client/main.ts';
import { oneLine } from '../parts/one-line.ts';

/** Something that happens by the clock. */
export interface Due {
  readonly id: string;
  readonly at: number;
  /** What happens, as a sentence. */
  readonly what: string;
  /** The session that it is about. */
  readonly key?: string;
  /** Of a scheduled message. */
  readonly runId?: string;
}

interface Known {
  readonly approvals: readonly PendingApproval[];
  readonly rows: readonly SessionRow[];
  readonly waiting: readonly WaitingDelivery[];
  readonly messages: readonly ScheduledMessage[];
}

const actionWidth = 60;

/** What happens next, the soonest first. */
export const dueNext = ({ approvals, rows, waiting, messages }: Known): readonly Due[] => {
  const questions = approvals.map(({ approvalId, expiresAt, sessionKey: key, action }): Due => {
    const what = `The question “${action.slice(0, actionWidth)}” expires, unless somebody answers it.`;
    return { id: approvalId, at: expiresAt, what, key };
  });
  const results = rows.flatMap(({ key, resultsUntil }): readonly Due[] => {
    const what = 'The answer ends, unless the program that it waits for gives its results.';
    return resultsUntil === undefined ? [] : [{ id: `results ${key}`, at: resultsUntil, what, key }];
  });
  const repeats = waiting.map(({ channel, to, accountId, until }): Due => {
    const whom = to === undefined ? 'What waits' : `What waits for ${to}`;
    const account = accountId === undefined ? '' : `, from the account ${accountId}`;
    return { id: `${channel} ${accountId} ${to}`, at: until, what: `${whom} on ${channel} is tried again${account}.` };
  });
  const scheduled = messages.map(({ runId, sendAt, sessionKey: key, command, text }): Due => {
    const what =
      text === null ? `A chat command will be run: ${command}.` : `The message “${oneLine(text, actionWidth)}” will be sent.`;
    return { id: runId, at: sendAt, what, key, runId };
  });
  return [...questions, ...results, ...repeats, ...scheduled].sort((one, other) => one.at - other.at);
};
