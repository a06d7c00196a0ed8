import type { Config } from '../../../shared/domain/config/schema.ts';
import { identitiesOf } from '../../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { ownersQuestionOf } from '../../../shared/domain/routing/approval-text.ts';
import { ownersSessions } from '../../../shared/domain/routing/owners-sessions.ts';
import { grantOf } from '../../../shared/domain/session/answered.ts';
import { deferredCallId } from '../../../shared/domain/session/decide/deferred-call.ts';
import {
  type ApprovalRequest,
  type Notice,
  type Ruling,
  type SpawnedRun,
  sessionChannel,
  type ToolCall,
} from '../../../shared/domain/values/types.ts';
import type { Tool, ToolScope } from '../../../shared/ports/tools.ts';
import { isClientTool } from '../prompt/client-tools.ts';
import { askedFor } from '../prompt/offered-tools.ts';
import { severalPeople } from '../prompt/running-turn.ts';
import { isStranger, onBehalfOf } from '../tools/on-behalf.ts';
import { type ToolWord, toolWord } from '../tools/tool-policy.ts';
import type { Attempt } from './attempt.ts';
import { callHash, parseArguments } from './call-hash.ts';
import { type TurnContext, toolOf } from './turn-context.ts';

/**
 * Decides a call (A5/62): invalid calls are denied with a reason that lets the model correct them, the policy decides the others. A call that
 * was granted for good is not asked about again. In a `silent` step nobody can be asked (A7/85).
 */
export const toolPolicyDecisionOf = (attempt: Attempt, turnContext: TurnContext, call: ToolCall, silent: boolean): Ruling => {
  const tool = toolOf(turnContext, call.tool);
  if (tool === undefined && isClientTool(turnContext.view, call.tool)) return silent ? notNow : handedOver(attempt);
  if (tool === undefined) return invalid(`There is no tool ${JSON.stringify(call.tool)}. ${offer(turnContext)}`);
  const parsed = parseArguments(call.arguments);
  if ('problem' in parsed) return invalid(parsed.problem);

  const policy = policyOn(attempt, turnContext, tool, parsed.value);
  if (policy.action === 'deny') return { kind: 'deny', reason: `The call is not allowed: ${policy.rule}.` };
  const { grants } = attempt.state.machine.context;
  const holder = holderOf(turnContext.scope);
  const grant = holder && grants.length > 0 ? grantOf({ holder, hash: callHash(tool.name, parsed.value) }) : undefined;
  const isGranted = !tool.onceOnly && grant !== undefined && grants.includes(grant);
  if (policy.action === 'allow' || isGranted)
    return { kind: 'run', ...spawning(attempt, turnContext, { tool, callId: call.callId, given: parsed.value }) };
  const fault = tool.faultIn?.(parsed.value) ?? null;
  if (fault !== null) return invalid(fault);
  if (silent) return { kind: 'deny', reason: 'The call needs an approval, and nobody can be asked for one now.' };
  return { kind: 'ask', ...questionOf(attempt, turnContext, call, { tool, given: parsed.value, asks: 'run', ...policy }) };
};

const notNow: Ruling = { kind: 'deny', reason: 'The program that asks is not there for it now.' };
/** The program runs it: no rule of ours applies to what happens there. */
export const handedOver = ({ services: { clock, config } }: Attempt): Extract<Ruling, { kind: 'client' }> => ({
  kind: 'client',
  expiresAt: clock.now() + config.tools.clientResultMinutes * 60_000,
});

export type Question = Pick<Extract<Ruling, { kind: 'ask' }>, 'request' | 'notices'>;

/** The question whether an interrupted call may be made once more (I6). `null`: it may not. */
export const retryQuestion = (attempt: Attempt, turnContext: TurnContext, call: ToolCall): Question | null => {
  const tool = toolOf(turnContext, call.tool);
  const parsed = parseArguments(call.arguments);
  if (tool === undefined || 'problem' in parsed) return null;
  const policy = policyOn(attempt, turnContext, tool, parsed.value);
  if (policy.action === 'deny') return null;
  const approvers = policy.action === 'ask' ? policy.approvers : [];
  return questionOf(attempt, turnContext, call, { tool, given: parsed.value, asks: 'retry', approvers });
};

/** The strictest decision over all senders of the turn. */
const policyOn = (attempt: Attempt, { view }: TurnContext, tool: Tool, given: object): ToolWord => {
  const { config } = attempt.services;
  return view.askers
    .map((asker) => toolWord(config.tools.rules, { tool, arguments: given, ...askedFor(attempt, config, asker) }))
    .reduce(stricter);
};

/** When both ask, only a person who may answer both may answer. */
const stricter = (one: ToolWord, other: ToolWord): ToolWord => {
  if (one.action === 'deny' || other.action === 'allow') return one;
  if (other.action === 'deny' || one.action === 'allow') return other;
  return { ...one, approvers: one.approvers.filter((approver) => other.approvers.includes(approver)) };
};

/** Whose later calls a permanent grant covers. `undefined`: a turn of several people has no permanent grants. */
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
  attempt: Attempt,
  turnContext: TurnContext,
  call: ToolCall,
  { tool, given, asks, approvers }: Asked,
): Question => {
  const { clock, config, newApprovalId } = attempt.services;
  const { view, scope } = turnContext;
  const { approvalMinutes, strangerApprovalMinutes } = config.tools;
  const { principal } = scope.sender;
  const isDeferred = view.askers.some(({ sender }) => isStranger(sender));
  const approvalId = newApprovalId();
  const request = {
    approvalId,
    action: actionOf(tool, given, call).slice(0, 2_000),
    expiresAt: clock.now() + (isDeferred ? strangerApprovalMinutes : approvalMinutes) * 60_000,
    hash: callHash(tool.name, given),
    asks,
    approvers: [...new Set(approvers.map(identitiesOf(config.session.identityLinks).resolve))],
    ...lasting(tool, scope),
    ...spawning(attempt, turnContext, { tool, callId: isDeferred ? deferredCallId(approvalId) : call.callId, given }),
    ...(isDeferred && { deferred: { arguments: call.arguments, ...(principal !== undefined && { principal }) } }),
  };
  return { request, ...(isDeferred && { notices: ownersNotices(request, attempt.key, config) }) };
};

/** Where the question itself is asked the owner needs no other. */
const ownersNotices = (request: Question['request'], key: SessionKey, config: Config): Notice[] => {
  const pageUrl = config.page.enabled === false ? undefined : config.gateway.publicUrl;
  const text = ownersQuestionOf(request, key, pageUrl);
  return ownersSessions(config).flatMap((to) =>
    to === key ? [] : [{ code: 'approval_requested', text, deliverTo: { channel: sessionChannel, to } }],
  );
};

const lasting = (tool: Tool, scope: ToolScope): Pick<ApprovalRequest, 'holder' | 'onceOnly'> => {
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

const spawning = (
  { state }: Attempt,
  { scope }: TurnContext,
  { tool, callId, given }: { readonly tool: Tool; readonly callId: string; readonly given: object },
): { spawn?: SpawnedRun } => {
  const spawn = tool.spawns?.({ callId, scope, arguments: given });
  if (spawn === undefined) return {};
  const { askedBy } = state.machine.context.turn ?? {};
  return { spawn: { ...spawn, ...onBehalfOf(scope.sender), ...(askedBy !== undefined && { askedBy }) } };
};

const invalid = (reason: string): Ruling => ({ kind: 'deny', reason: reason.slice(0, 2_000), invalid: true });
const offer = ({ tools }: TurnContext): string =>
  tools.length === 0 ? 'No tools are available.' : `Available tools: ${tools.map(({ name }) => name).join(', ')}.`;
