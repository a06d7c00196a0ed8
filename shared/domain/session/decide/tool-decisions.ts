import type { ApprovalRequest, Ruling, ToolCall } from '../../values/types.ts';
import { type CallState, pendingCall } from '../context.ts';
import type { SessionEvent } from '../events.ts';
import { handingOver } from './client-results.ts';
import { type BusyView, refOf, sending } from './decision.ts';
import { type CallQuestion, deferring } from './deferral.ts';
import { ended, starting } from './tools.ts';

/** What follows at once from the tool policy's decisions (A5/62). */

/** The turn waits for the answer. The request goes where the turn's answer goes. */
export const waitingFor = ({ context, turn }: BusyView, request: ApprovalRequest): SessionEvent[] => [
  { type: 'approval_requested', v: 1, turn: refOf(turn), ...request, ...sending(context, turn) },
];

/**
 * The immediate effect of the policy's decisions on a step's calls: allowed calls start, denied and deferred ones end, and if none
 * runs, the first approval is requested.
 */
export const toolDecisionEvents = (
  view: BusyView,
  calls: readonly ToolCall[],
  toolPolicyDecisions: readonly Ruling[],
): SessionEvent[] => {
  const { turn } = view;
  const events: SessionEvent[] = [];
  let question: (() => SessionEvent[]) | null = null;
  let hasDeferred = false;
  const handed: CallState[] = [];
  let resultsUntil = 0;
  for (const [index, made] of calls.entries()) {
    const decision = toolPolicyDecisions[index];
    const call = pendingCall(made, turn);
    if (decision?.kind === 'run') events.push(starting(turn, call, { spawn: decision.spawn }));
    if (decision?.kind === 'deny') events.push(...ended(turn, call, decision.invalid ? 'error' : 'denied', decision.reason));
    if (decision?.kind === 'client') {
      handed.push(call);
      resultsUntil = decision.expiresAt;
    }
    if (decision?.kind === 'ask' && decision.request.deferred) {
      events.push(...deferring(view, call, hasDeferred ? withoutQuestion(decision) : decision));
      hasDeferred = true;
    } else if (decision?.kind === 'ask')
      question ??= () => waitingFor(view, { ...decision.request, callId: made.callId, tool: made.tool });
  }
  if (events.some(({ type }) => type === 'tool_call_started')) return events;
  if (question !== null) return [...events, ...question()];
  return handed.length === 0 ? events : [...events, ...handingOver(turn, handed, resultsUntil)];
};

/** Another call of the step is already asked about. */
const withoutQuestion = ({ request: { deferred: _, ...request } }: CallQuestion): CallQuestion => ({ request });
