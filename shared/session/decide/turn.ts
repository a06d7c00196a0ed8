import { limits } from '../../kit/limits.ts';
import type { SessionEvent } from '../events.ts';
import type { ActiveTurn, SessionContext } from '../machine.ts';
import { accept, type Decision, type Given, isCurrent, nothing, refOf, type SessionView } from './decision.ts';
import { nextTurn } from './generation.ts';

/** The turn: recorded step by recorded step, resumed without repeating one (idea 3, I6). */

/** Where an answer goes and the session's own word on sending it (A9/96). */
const sending = ({ settings: { sendPolicy } }: SessionContext, { deliverTo }: ActiveTurn) => ({
  ...(deliverTo && { deliverTo }),
  ...(sendPolicy && { sendPolicy }),
});

const failing = (view: SessionView & { readonly turn: ActiveTurn }, code: string, message: string): SessionEvent[] => [
  { type: 'turn_failed', v: 1, turn: refOf(view.turn), code, message, ...sending(view.context, view.turn) },
  ...nextTurn(view),
];

/** A step of an attempt that is over, or one that is recorded already, changes nothing. */
export const recordStep = ({ data: { turn: ref, step, outcome } }: Given<'record_step'>, view: SessionView): Decision => {
  if (view.status !== 'running' || !isCurrent(view, ref) || view.turn.step !== step) return nothing;
  const { context, turn } = view;
  if (outcome.kind === 'failed') return accept(...failing(view, outcome.code, outcome.message));
  const recorded = (finish: 'stop' | 'continue'): SessionEvent => ({
    type: 'model_step',
    v: 1,
    turn: refOf(turn),
    step,
    text: outcome.text,
    finish,
    model: outcome.model,
    usage: outcome.usage,
  });
  if (outcome.kind === 'continue') {
    const exhausted = step >= limits.turnSteps ? failing(view, 'steps_exhausted', `no answer after ${step} model steps`) : [];
    return accept(recorded('continue'), ...exhausted);
  }
  return accept(
    recorded('stop'),
    {
      type: 'assistant_message',
      v: 1,
      turn: refOf(turn),
      messageId: turn.id,
      text: outcome.text,
      ...sending(context, turn),
    },
    { type: 'turn_completed', v: 1, turn: refOf(turn) },
    ...nextTurn(view),
  );
};

/** The next attempt at a turn whose host is gone. Attempt numbers are never used again; resumes without progress are bounded. */
export const resumeTurn = (_: Given<'resume_turn'>, view: SessionView): Decision => {
  if (view.status !== 'running') return nothing;
  const { turn } = view;
  if (turn.resumes >= limits.turnResumes) {
    return accept(
      ...failing(view, 'attempts_exhausted', `given up after ${turn.attempt} attempts, ${turn.resumes} without a finished step`),
    );
  }
  return accept({ type: 'turn_resumed', v: 1, turn: { id: turn.id, attempt: turn.attempt + 1 }, step: turn.step });
};
