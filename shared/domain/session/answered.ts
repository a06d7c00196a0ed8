import { limits } from '../../kit/limits.ts';
import type { ApprovalRequest } from '../values/types.ts';
import { type ContextChange, progress, type SessionContext, withTurn } from './context.ts';
import type { EventOf } from './events.ts';

/** How a session tracks what it waits for: approvals and their answers (A5/62), results of a program's tools, runs that it spawned. */

/** An approval that was answered or has expired. */
export interface ResolvedApproval {
  readonly approvalId: string;
  readonly verdict: EventOf<'approval_resolved'>['verdict'];
  readonly by: string;
}

/** The approval request in an event. No schema picks its fields: the page folds without any. */
export const requestOf = ({ type, v, turn, deliverTo, sendPolicy, ...request }: EventOf<'approval_requested'>): ApprovalRequest =>
  request;

/** The stored form of a permanent grant: the call's hash and, if given, whose calls it applies to. */
export const grantOf = ({ holder, hash }: { readonly holder?: string | undefined; readonly hash: string }): string =>
  holder === undefined ? hash : `${hash} ${holder}`;

type Asking = Pick<SessionContext, 'approval' | 'questions'>;

/** All open questions: what the turn waits for, then what no turn waits for (ADR 22). */
export const openQuestions = ({ approval, questions }: Asking): readonly ApprovalRequest[] =>
  approval === null ? questions : [approval, ...questions];

/** The open question with this id. */
export const questionCalled = (asking: Asking, approvalId: string): ApprovalRequest | undefined =>
  openQuestions(asking).find((open) => open.approvalId === approvalId);

export const asked = ({ questions }: SessionContext, event: EventOf<'approval_requested'>): ContextChange => {
  const request = requestOf(event);
  return request.deferred ? { questions: [...questions, request] } : { approval: request };
};

export const answered = (context: SessionContext, event: EventOf<'approval_resolved'>): ContextChange => {
  const { approvalId, verdict, by, scope, turn } = event;
  const { hash, holder, deferred } = questionCalled(context, approvalId) ?? {};
  const grant = hash === undefined ? undefined : grantOf({ holder, hash });
  return {
    ...(deferred ? { questions: context.questions.filter((open) => open.approvalId !== approvalId) } : { approval: null }),
    resolved: [...context.resolved, { approvalId, verdict, by }].slice(-limits.resolvedApprovals),
    ...(scope === 'always' &&
      grant !== undefined && { grants: [...context.grants.filter((known) => known !== grant), grant].slice(-limits.grants) }),
    ...(deferred === undefined && withTurn(context, { attempt: turn.attempt })),
  };
};

export const resultsAwaited = (context: SessionContext, { expiresAt }: EventOf<'client_results_awaited'>): ContextChange =>
  withTurn(context, { resultsUntil: expiresAt });

export const resultsReceived = (
  { turn }: SessionContext,
  { turn: { attempt } }: EventOf<'client_results_received'>,
): ContextChange => {
  if (turn === null) return {};
  const { resultsUntil: _, ...others } = turn;
  return { turn: { ...others, ...progress, attempt } };
};

export const messageAdded = (context: SessionContext, { message }: EventOf<'user_message'>): ContextChange => ({
  messages: context.messages + 1,
  ...(message.deliverTo && { route: message.deliverTo }),
  ...runEnded(context, message),
});

/** A message, accepted or refused, that carries the result of a spawned run ends that run. */
export const runEnded = ({ spawned }: SessionContext, { answers }: { readonly answers?: string | undefined }): ContextChange =>
  answers === undefined ? {} : { spawned: spawned.filter(({ runId }) => runId !== answers) };

export const runsStopped = (context: SessionContext, { runs }: EventOf<'runs_stopped'>): ContextChange => {
  const stopped = new Set(runs.map(({ runId }) => runId));
  return { spawned: context.spawned.filter(({ runId }) => !stopped.has(runId)) };
};
