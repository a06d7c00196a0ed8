import type { TurnView } from '../../../shared/domain/prompt/conversation-message.ts';
import type { ActiveTurn } from '../../../shared/domain/session/context.ts';
import type { SpawnedRun, ToolCall } from '../../../shared/domain/values/types.ts';
import { assert } from '../../../shared/kit/assert.ts';
import type { Tool, ToolScope } from '../../../shared/ports/tools.ts';
import type { SkillSet } from '../../../shared/runtime/skills/explain.ts';
import { offeredTools } from '../prompt/offered-tools.ts';
import type { Attempt } from './attempt.ts';
import { type SkillCall, skillCallOf, withSkillText } from './skill-call.ts';

/** What a turn's next move works with. */
export interface TurnContext {
  readonly view: TurnView;
  /** The tools that the model is offered now; `scope` says in which session and on whose behalf. */
  readonly tools: readonly Tool[];
  /** Also those that it is not offered: a call may have been allowed before a stranger joined the turn. */
  readonly known: readonly Tool[];
  readonly scope: ToolScope;
  readonly skills: SkillSet;
  /** The skill that the turn's message calls. */
  readonly called: SkillCall | null;
}

export const turnContextOf = async (attempt: Attempt, turn: ActiveTurn): Promise<TurnContext> => {
  const { key, ref, services, state } = attempt;
  const { sessionId, generation, spawned, settings } = state.machine.context;
  const skills = await attempt.skills();
  const view = await services.conversations.read(key, { id: turn.id, held: attempt.held.all }, state.position);
  const { sender } = view;
  const { agent, skills: given } = services.config;
  const called = turn.task ? null : skillCallOf(view, skills, agent.names);
  const known = services.tools.of({ key, sender });
  const isPrompt = called !== null && called.skill.manifest.commandTool === undefined;
  return {
    view: isPrompt ? withSkillText(view, turn.id, called, given.entries) : view,
    skills,
    called,
    known,
    tools: offeredTools(attempt, services.config, known, view.askers),
    scope: {
      key,
      sessionId,
      generation,
      spawned,
      turn: ref,
      sender,
      skills: skills.skills,
      ...(settings.model !== undefined && { model: settings.model }),
    },
  };
};

/** The same context with runs that are about to start. */
export const withSpawned = <T extends TurnContext>(turnContext: T, runs: readonly SpawnedRun[]): T => ({
  ...turnContext,
  scope: { ...turnContext.scope, spawned: [...(turnContext.scope.spawned ?? []), ...runs] },
});

export const toolOf = ({ known }: TurnContext, name: string): Tool | undefined => known.find((tool) => tool.name === name);

/** A call of the last step as the model wrote it. Throws `AssertionError` for any other call. */
export const writtenCall = ({ view }: TurnContext, callId: string): ToolCall => {
  const call = view.calls.get(callId);
  assert(call, `call ${callId} is one of the last step's`);
  return call;
};
