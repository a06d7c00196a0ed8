import { limits } from '../../../kit/limits.ts';
import type { SkillRef } from '../../values/memory-edit.ts';
import type { PromptPart, Ruling, ToolCall } from '../../values/types.ts';
import type { CommandOf } from '../commands.ts';
import type { ActiveTurn, SessionContext } from '../context.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import {
  accept,
  type BusyView,
  type Decision,
  type Given,
  isCurrent,
  nothing,
  refOf,
  type SessionView,
  sending,
  unfinished,
} from './decision.ts';
import { nextTurn } from './generation.ts';
import { toolDecisionEvents } from './tool-decisions.ts';
import { callIdOf, openCall, resultEvents } from './tools.ts';

/** The turn: recorded step by step, and resumed without repeating a step (B16, I6). */

const failing = (view: BusyView, code: string, message: string): SessionEvent[] => [
  {
    type: 'turn_failed',
    v: 1,
    turn: refOf(view.turn),
    code,
    message,
    ...unfinished(view.context, view.turn),
    ...sending(view.context, view.turn),
  },
  ...nextTurn(view),
];

export const completing = (view: BusyView): SessionEvent[] => [
  { type: 'turn_completed', v: 1, turn: refOf(view.turn) },
  ...nextTurn(view),
];

/** A step that is already recorded, or that comes from an attempt that has ended, changes nothing. */
export const recordStep = ({ data }: Given<'record_step'>, view: SessionView): Decision => {
  if (view.status !== 'running' || !isCurrent(view, data.turn) || view.turn.step !== data.step) return nothing;
  const told = data.results?.filter(({ callId }) => openCall(view.turn, callId)?.runId === undefined);
  const results = new Map(told?.map((result) => [result.callId, resultEvents(result, view)]));
  const isReady = view.turn.calls.every(({ callId, status }) => status === 'done' || results.get(callId)?.length);
  return isReady ? accept(...[...results.values()].flat(), ...stepEvents(data, view)) : nothing;
};

const stepEvents = (data: CommandOf<'record_step'>, view: BusyView): SessionEvent[] => {
  const { step, outcome, heard = 0, flush } = data;
  if (outcome.kind === 'failed') return failing(view, outcome.code, outcome.message);

  const { turn } = view;
  const calls = outcome.kind === 'continue' ? named(turn, step, outcome.calls ?? [], data.rulings ?? []) : [];
  const answers = outcome.kind === 'reply' && !flush && turn.task === undefined;
  // A message that joined too late for this step has not been seen yet, so the turn continues (B6).
  const ends = answers && heard >= turn.joined;
  const taken: SessionEvent = {
    type: 'model_step',
    v: 1,
    turn: refOf(turn),
    step,
    text: outcome.text,
    finish: answers ? 'stop' : 'continue',
    model: outcome.model,
    usage: outcome.usage,
    ...(calls.length > 0 && { calls }),
    ...(heard > 0 && { heard }),
    ...(flush && { flush }),
    ...(outcome.reasoning && { reasoning: outcome.reasoning }),
    ...(outcome.truncated && { truncated: outcome.truncated }),
    ...(outcome.refused && { refused: outcome.refused }),
  };
  const answer = answers ? [answering(view, { text: outcome.text, step }, ends)] : [];
  const recorded = [...prompting(view.context, data.prompt), ...equipping(view.context, data.skills), taken, ...answer];
  if (ends) return [...recorded, ...completing(afterAnswer(view))];
  if (step >= limits.turnSteps) return [...recorded, ...failing(view, 'steps_exhausted', `no answer after ${step} model steps`)];
  return [...recorded, ...toolDecisionEvents(view, calls, data.rulings ?? [])];
};

/** The view for the rest of the commit of an answer: it counts the answer, so that a checkpoint includes it (A7/80). */
const afterAnswer = (view: BusyView): BusyView => ({
  ...view,
  context: { ...view.context, messages: view.context.messages + 1 },
});

const named = (
  turn: ActiveTurn,
  step: number,
  calls: readonly Omit<ToolCall, 'callId'>[],
  rulings: readonly Ruling[],
): ToolCall[] =>
  calls.map(({ tool, arguments: given }, index) => ({
    ...{ callId: callIdOf(turn.id, step, index), tool, arguments: given },
    ...(rulings[index]?.kind === 'client' && { client: true as const }),
  }));

const prompting = ({ prompt }: SessionContext, parts: readonly PromptPart[] | undefined): SessionEvent[] =>
  parts === undefined || JSON.stringify(parts) === JSON.stringify(prompt)
    ? []
    : [{ type: 'prompt_changed', v: 1, parts: [...parts] }];

/** Records the skills that the model sees: once per generation, and when they change (A15/166). */
const equipping = ({ skills: before }: SessionContext, skills: readonly SkillRef[] | undefined): SessionEvent[] =>
  skills === undefined || JSON.stringify(skills) === JSON.stringify(before)
    ? []
    : [{ type: 'skills_changed', v: 1, skills: [...skills] }];

const answering = (
  { context, turn }: BusyView,
  { text, step }: { readonly text: string; readonly step: number },
  isLast: boolean,
): EventOf<'assistant_message'> => ({
  type: 'assistant_message',
  v: 1,
  turn: refOf(turn),
  messageId: isLast ? turn.id : `${turn.id}.${step}`,
  text,
  ...(!isLast && { interim: true }),
  ...unfinished(context, turn),
  ...sending(context, turn),
});

/**
 * The next attempt at a turn whose host is gone or which stalled. Attempt numbers are never reused; attempts without progress are
 * bounded.
 */
export const resumeTurn = ({ data: { turn: ref, reason } }: Given<'resume_turn'>, view: SessionView): Decision => {
  if (view.status !== 'running' || (ref !== undefined && !isCurrent(view, ref))) return nothing;
  const { turn } = view;
  const { attempt, step, resumes, stalls } = turn;
  if (reason !== undefined && stalls + 1 >= limits.turnStalls) {
    return accept(...failing(view, 'turn_stalled', `given up after ${attempt} attempts: ${reason}`));
  }
  if (resumes >= limits.turnResumes) {
    const message = `given up after ${attempt} attempts, ${resumes} without a finished step`;
    return accept(...failing(view, 'attempts_exhausted', message));
  }
  const next = { id: turn.id, attempt: attempt + 1 };
  return accept({ type: 'turn_resumed', v: 1, turn: next, step, ...(reason !== undefined && { reason }) });
};
