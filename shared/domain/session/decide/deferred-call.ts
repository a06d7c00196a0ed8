import type { ApprovalRequest, Sender } from '../../values/types.ts';
import type { CallState } from '../context.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import type { QueuedTurn } from '../queued-turn.ts';
import { callIdOf, starting } from './tools.ts';

/**
 * A stranger's turn does not wait for an approval, so that it holds up nobody (ADR 22): the call ends, the question stays open, and
 * once it is granted, a turn of its own begins with the call. A person has one such question in a session at a time.
 */

/** The turn that makes the call, and the call in it. */
const mark = 'approval-';
export const deferredTurnId = (approvalId: string): string => `${mark}${approvalId}`;
export const isDeferredTurn = (turnId: string): boolean => turnId.startsWith(mark);
export const deferredCallId = (approvalId: string): string => callIdOf(deferredTurnId(approvalId), 1, 0);

/** The first step of a turn that begins with a call that a person has approved. No model took it. */
export const begunApprovedCall = ({ id, call }: QueuedTurn): SessionEvent[] => {
  if (call === undefined) return [];
  const { approvalId, tool, arguments: given, spawn } = call;
  const turn = { id, attempt: 1 };
  const callId = callIdOf(id, 1, 0);
  const step: EventOf<'model_step'> = {
    ...{ type: 'model_step', v: 1, turn, step: 1, text: '', finish: 'continue', model: 'approval' },
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, estimated: true },
    calls: [{ callId, tool, arguments: given }],
  };
  const state: CallState = { callId, tool, status: 'pending', attempt: 1, tries: 0 };
  return [step, starting(turn, state, { approvalId, spawn })];
};

/** The turn that makes an approved call, and the message that it answers: it has the rights of whoever asked. */
export const approvedTurn = (
  { approvalId, action, tool = '', spawn, deferred }: ApprovalRequest,
  by: string,
): { turn: QueuedTurn; message: EventOf<'user_message'>['message'] } => {
  const id = deferredTurnId(approvalId);
  const { arguments: given = '', deliverTo, principal } = deferred ?? {};
  const target = deliverTo && { deliverTo };
  const sender: Sender = {
    id: 'natter',
    role: 'program',
    onBehalfOf: 'participant',
    ...(principal !== undefined && { principal }),
  };
  const text = `[${by} has allowed what was asked for earlier. It is done now: ${action}]`;
  return {
    turn: {
      ...{
        byStranger: true,
        id,
        messageId: id,
        ...target,
        call: { approvalId, tool, arguments: given, ...(spawn && { spawn }) },
      },
      ...(principal !== undefined && { askedBy: principal }),
    },
    message: { messageId: id, text, sender, ...target },
  };
};
