import { identitiesOf } from '../../shared/domain/keys/identity.ts';
import { parseKey } from '../../shared/domain/keys/session-key.ts';
import { channelOf } from '../../shared/domain/projections/channel.ts';
import { grantOf } from '../../shared/domain/session/answered.ts';
import type { ApprovalRequest, Ruling, SpawnedRun, ToolCall } from '../../shared/domain/values/types.ts';
import type { Tool, ToolScope } from '../../shared/ports/tools.ts';
import type { Attempt } from './attempt.ts';
import { callHash, parseArguments } from './call-hash.ts';
import { severalPeople } from './prompt/running-turn.ts';
import { type Scene, toolOf } from './scene.ts';
import { onBehalfOf } from './tools/on-behalf.ts';
import { type ToolWord, toolWord } from './tools/tool-policy.ts';

/**
 * What becomes of a call (A5/62): the policy's word, where the call can be made at all. One that was granted for good is not asked about
 * again. What is wrong with a call is told to the model, which may mend it. In a `silent` step nobody can be asked (A7/85).
 */
export const rulingOf = (attempt: Attempt, scene: Scene, call: ToolCall, silent: boolean): Ruling => {
  const tool = toolOf(scene, call.tool);
  if (tool === undefined) return invalid(`There is no tool ${JSON.stringify(call.tool)}. ${offer(scene)}`);
  const parsed = parseArguments(call.arguments);
  if ('problem' in parsed) return invalid(parsed.problem);

  const word = wordOn(attempt, scene, tool, parsed.value);
  if (word.action === 'deny') return { kind: 'deny', reason: `The call is not allowed: ${word.rule}.` };
  const { grants } = attempt.state.machine.context;
  const holder = holderOf(scene.scope);
  const grant = holder && grantOf({ holder, hash: callHash(tool.name, parsed.value) });
  const isGranted = !tool.onceOnly && grant !== undefined && grants.includes(grant);
  if (word.action === 'allow' || isGranted) return { kind: 'run', ...spawning(scene, tool, call.callId, parsed.value) };
  if (silent) return { kind: 'deny', reason: 'The call needs an approval, and nobody can be asked now.' };
  return { kind: 'ask', request: questionOf(attempt, scene, call, { tool, given: parsed.value, asks: 'run', ...word }) };
};

export type Question = Omit<ApprovalRequest, 'callId' | 'tool'>;

/** The question whether a call that was cut off may be made once more (I6). `null`: it may not. */
export const retryQuestion = (attempt: Attempt, scene: Scene, call: ToolCall): Question | null => {
  const tool = toolOf(scene, call.tool);
  const parsed = parseArguments(call.arguments);
  if (tool === undefined || 'problem' in parsed) return null;
  const word = wordOn(attempt, scene, tool, parsed.value);
  if (word.action === 'deny') return null;
  const approvers = word.action === 'ask' ? word.approvers : [];
  return questionOf(attempt, scene, call, { tool, given: parsed.value, asks: 'retry', approvers });
};

/** The strictest word of those on each who has a part in the turn. */
const wordOn = ({ key, services: { config }, state }: Attempt, { view }: Scene, tool: Tool, given: object): ToolWord => {
  const { turn, route, origin } = state.machine.context;
  const place = parseKey(key, config.session.mainKey);
  const channel = channelOf(place, { lastRoute: turn?.deliverTo ?? route, origin });
  const agentId = place.agentId || config.agent.id;
  return view.senders
    .map((sender) => toolWord(config.tools.rules, { tool, arguments: given, agentId, channel, sender }))
    .reduce(stricter);
};

/** Of two questions both must be one that a person may answer. */
const stricter = (one: ToolWord, other: ToolWord): ToolWord => {
  if (one.action === 'deny' || other.action === 'allow') return one;
  if (other.action === 'deny' || one.action === 'allow') return other;
  return { ...one, approvers: one.approvers.filter((approver) => other.approvers.includes(approver)) };
};

/** Whose calls a grant for good counts for; several people have none. */
const holderOf = ({ sender }: ToolScope): string | undefined => {
  const { role = 'participant', principal, id } = sender;
  if (sender === severalPeople) return undefined;
  return role === 'owner' ? role : `${role}:${principal ?? id}`;
};

interface Asked {
  readonly tool: Tool;
  readonly given: object;
  readonly asks: 'run' | 'retry';
  readonly approvers: readonly string[];
}
const questionOf = (
  { services: { clock, config, newApprovalId } }: Attempt,
  scene: Scene,
  call: ToolCall,
  { tool, given, asks, approvers }: Asked,
): Question => ({
  approvalId: newApprovalId(),
  action: actionOf(tool, given, call).slice(0, 2_000),
  expiresAt: clock.now() + config.tools.approvalMinutes * 60_000,
  hash: callHash(tool.name, given),
  asks,
  approvers: [...new Set(approvers.map(identitiesOf(config.session.identityLinks).resolve))],
  ...lasting(tool, scene.scope),
  ...spawning(scene, tool, call.callId, given),
});

const lasting = (tool: Tool, scope: ToolScope): Pick<Question, 'holder' | 'onceOnly'> => {
  const holder = holderOf(scope);
  return tool.onceOnly || holder === undefined ? { onceOnly: true } : { holder };
};

const actionOf = (tool: Tool, given: object, call: ToolCall): string => {
  try {
    return tool.describe(given);
  } catch {
    return `${tool.name} ${call.arguments}`;
  }
};

const spawning = ({ scope }: Scene, tool: Tool, callId: string, given: object): { spawn?: SpawnedRun } => {
  const spawn = tool.spawns?.({ callId, scope, arguments: given });
  return spawn ? { spawn: { ...spawn, ...onBehalfOf(scope.sender) } } : {};
};

const invalid = (reason: string): Ruling => ({ kind: 'deny', reason: reason.slice(0, 2_000), invalid: true });
const offer = ({ tools }: Scene): string =>
  tools.length === 0 ? 'There are no tools here.' : `These are there: ${tools.map(({ name }) => name).join(', ')}.`;
