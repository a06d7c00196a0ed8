import type { Asker, TurnView } from '../../../shared/domain/prompt/conversation-message.ts';
import { skillCallIn } from '../../../shared/domain/routing/chat-command.ts';
import type { ActiveTurn } from '../../../shared/domain/session/context.ts';
import { callIdOf } from '../../../shared/domain/session/decide/tools.ts';
import type { Skill } from '../../../shared/domain/skills/skill.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { commandName } from '../../../shared/runtime/skills/commands.ts';
import type { Entries } from '../../../shared/runtime/skills/environment.ts';
import type { SkillSet } from '../../../shared/runtime/skills/explain.ts';
import { readSkillText } from '../../../shared/runtime/skills/load.ts';

/** Skills that people call by a command (A15/148, 150). The message in the log stays as it was written. */

/** A message's call of a skill. */
export interface SkillCall {
  readonly skill: Skill;
  readonly command: string;
  /** The text after the command, unchanged. */
  readonly given: string;
}

/** The skill that a turn's message calls, if the session has it. Messages of programs are never commands, except through the API. */
export const skillCallOf = ({ prompt, askers }: TurnView, { commands }: SkillSet, names: readonly string[]): SkillCall | null => {
  const call = commands.size === 0 || !askers.every(mayCall) ? null : skillCallIn(prompt, names);
  const command = commandName(call?.name ?? '');
  const skill = commands.get(command);
  return call && skill ? { skill, command, given: call.rest } : null;
};

const mayCall = ({ sender: { role, id } }: Asker): boolean => role !== 'program' || id === 'api';

/** The turn with the skill's text in its message. */
export const withSkillText = (view: TurnView, turnId: string, call: SkillCall, entries: Entries): TurnView => {
  const prompt = textOf(call, entries);
  if (prompt === null) return view;
  const said = view.said.map((entry) => {
    const isIt = entry.turnId === turnId && entry.asks && entry.message.role === 'user' && entry.message.text === view.prompt;
    return isIt ? { ...entry, message: { ...entry.message, text: prompt } } : entry;
  });
  return { ...view, prompt, said };
};

/** `null`: the skill is gone, or no longer matches its pin. */
const textOf = ({ skill, given }: SkillCall, entries: Entries): string | null => {
  try {
    const text = readSkillText(skill, entries);
    const most = limits.promptFileBytes;
    const shown = text.length <= most ? text : `${text.slice(0, most).toWellFormed()}\n[The rest is in ${skill.location}.]`;
    return `[Do what the skill "${skill.name}" says. Its file is ${skill.location}.]\n\n${shown}\n\n[The request]\n${given}`.trimEnd();
  } catch (error) {
    if (hasCode(error, 'invalid')) return null;
    throw error;
  }
};

/** Named as the model of steps that no model took. */
const dispatcher = 'skill-dispatch';
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, estimated: true };

/**
 * The step of a turn whose message goes straight to a tool: first the call, which the policy decides like any other, then its result as the
 * answer. `null`: a model takes the step.
 */
export const dispatchStep = ({ id, step }: ActiveTurn, view: TurnView, called: SkillCall | null): StepOutcome | null => {
  const tool = called?.skill.manifest.commandTool;
  if (!called || tool === undefined || step > 2) return null;
  if (step === 1) {
    const given = { command: called.given, commandName: called.command, skillName: called.skill.name };
    return { kind: 'continue', text: '', model: dispatcher, usage, calls: [{ tool, arguments: JSON.stringify(given) }] };
  }
  const callId = callIdOf(id, 1, 0);
  const result = view.said.find(({ message }) => message.role === 'tool' && message.callId === callId)?.message;
  return result?.role === 'tool' && result.tool === tool ? { kind: 'reply', text: result.text, model: dispatcher, usage } : null;
};
