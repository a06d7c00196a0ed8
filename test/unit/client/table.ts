import { z } from 'zod';
import { messagesFound } from '../../../services/gateway/messages/results.ts';
import * as answers from '../../../services/gateway/operation/results.ts';
import type { NatterClient } from '../../../shared/client/main.ts';

/** Which operation of docs/integrate/openapi.json each method of the client makes, and the schema of its answer. `item`: of what a list hands out. */

type Of<Group extends 'sessions' | 'runs' | 'approvals'> = `${Group}.${Extract<keyof NatterClient[Group], string>}`;
/** `client.get` and its like take any path; `connect` makes no call. */
export type MethodName = Of<'sessions'> | Of<'runs'> | Of<'approvals'> | 'events' | 'ticket';
export interface Row {
  readonly operations: readonly string[];
  readonly answer: z.ZodType;
  readonly item?: z.ZodType;
  /** Media type of an answer that is not JSON. */
  readonly type?: string;
}

export const table = {
  'sessions.list': {
    operations: ['listSessions'],
    answer: answers.sessions,
    item: answers.sessions.shape.sessions.element,
  },
  'sessions.get': { operations: ['readSession'], answer: answers.session },
  'sessions.patch': { operations: ['patchSession'], answer: answers.patched },
  'sessions.messages': {
    operations: ['readMessages'],
    answer: answers.messagesResult,
    item: answers.messagesResult.shape.messages.element,
  },
  'sessions.attachment': { operations: ['readAttachment'], answer: z.custom<Uint8Array>(), type: 'application/octet-stream' },
  'sessions.search': { operations: ['searchMessages'], answer: messagesFound },
  'sessions.markRead': { operations: ['markRead'], answer: answers.readMarked },
  'sessions.deactivate': { operations: ['deactivateSession'], answer: answers.takenResult },
  'sessions.export': { operations: ['readCommits'], answer: answers.commits, item: answers.commits.shape.commits.element },
  'sessions.exportStored': {
    operations: ['readStoredCommits'],
    answer: answers.storedCommits,
    item: answers.storedCommits.shape.commits.element,
  },
  'sessions.post': { operations: ['postMessage'], answer: answers.begunRun },
  'sessions.append': { operations: ['postMessage'], answer: answers.begunRun },
  'sessions.open': { operations: ['openSession'], answer: answers.takenResult },
  'sessions.stop': { operations: ['stopSession'], answer: answers.takenResult },
  'sessions.reset': { operations: ['resetSession'], answer: answers.takenResult },
  'sessions.compact': { operations: ['compactSession'], answer: answers.begunRun },
  'sessions.checkpoint': { operations: ['checkpointSession'], answer: answers.checkpointResult },
  'sessions.fork': { operations: ['forkSession'], answer: answers.forked },
  'sessions.delete': { operations: ['deleteSession'], answer: answers.takenResult },
  'sessions.state': { operations: ['readState'], answer: answers.state },
  'sessions.diff': { operations: ['readDiff'], answer: answers.diff },
  'runs.get': { operations: ['readRun'], answer: answers.runResult },
  'runs.wait': { operations: ['readRun'], answer: answers.runResult },
  'runs.cancel': { operations: ['cancelRun'], answer: answers.takenResult },
  'approvals.list': {
    operations: ['listApprovals'],
    answer: answers.approvals,
    item: answers.approvals.shape.approvals.element,
  },
  'approvals.resolve': { operations: ['answerApproval'], answer: answers.answered },
  events: {
    operations: ['readEvents', 'readSessionEvents'],
    answer: answers.events,
    item: answers.events.shape.events.element,
  },
  ticket: { operations: ['createTicket'], answer: answers.ticket },
} as const satisfies Record<MethodName, Row>;
