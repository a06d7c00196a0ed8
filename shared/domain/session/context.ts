import type { SkillRef } from '../values/memory-edit.ts';
import type { Settings, SettingsChange } from '../values/settings.ts';
import type {
  ApprovalRequest,
  DeliveryTarget,
  Origin,
  PromptPart,
  SpawnedRun,
  ToolCall,
  TurnRef,
  TurnTask,
  Usage,
} from '../values/types.ts';
import type { ResolvedApproval } from './answered.ts';
import type { EventOf } from './events.ts';
import type { IntrospectionState } from './introspection.ts';
import type { QueuedTurn } from './queued-turn.ts';

/** What a session knows besides its status, and how each fact changes it. Plain data: it survives MessagePack and JSON unchanged. */

/** A call of the running turn. `attempt` is the turn's attempt that last started it: in a later attempt it no longer runs (I6). */
export interface CallState {
  readonly callId: string;
  readonly tool: string;
  readonly status: 'pending' | 'started' | 'done';
  readonly attempt: number;
  /** How often the call was started. */
  readonly tries: number;
  /** The program that sent the message runs it. */
  readonly client?: true;
  /** The run in another session that the call started. */
  readonly runId?: string;
}
/**
 * The running turn. `step` is the number of the next model step, from 1; `resumes` and `stalls` count attempts since the last
 * progress.
 */
export interface ActiveTurn extends TurnRef {
  readonly messageId: string;
  readonly step: number;
  readonly resumes: number;
  readonly stalls: number;
  /** The calls of the last model step, in order. The next step starts when all are done. */
  readonly calls: readonly CallState[];
  /** Number of messages that joined the turn, and the time until which more may join before its first step, ms (B6). */
  readonly joined: number;
  readonly quietUntil?: number;
  /** Queued turns that this turn answers too. */
  readonly merged?: readonly string[];
  readonly deliverTo?: DeliveryTarget;
  readonly task?: TurnTask;
  /** The one person whose messages this turn answers (D7). */
  readonly askedBy?: string;
  /** It waits for results of the program's tools until then, ms. */
  readonly resultsUntil?: number;
}
/**
 * Tokens of this generation. `contextTokens` are those of the last model step: how full the model's window is (A1/3). `estimated`: that step's
 * tokens were not counted by a provider.
 */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly contextTokens: number;
  readonly estimated?: true;
  /** US dollars, as far as providers report them. */
  readonly costUsd: number;
}
export interface SessionContext {
  readonly sessionId: string;
  /** Grows with each reset. 0: never opened. */
  readonly generation: number;
  /** Grows with each stop and reset; after a newer epoch nothing of an older one is recorded (I5). */
  readonly epoch: number;
  readonly messages: number;
  readonly completedTurns: number;
  readonly compactions: number;
  readonly usage: TokenCounts;
  readonly settings: Settings;
  readonly origin: Origin;
  /** Where the last requested answer went (A13/138). */
  readonly route: DeliveryTarget | null;
  /** Deleted: the next message opens a new generation instead of reopening this one (C9). */
  readonly deleted: boolean;
  /** The last generation that was deleted; 0: none. */
  readonly deletedGeneration: number;
  readonly queue: readonly QueuedTurn[];
  readonly turn: ActiveTurn | null;
  /** What the turn waits for. */
  readonly approval: ApprovalRequest | null;
  /** Questions that no turn waits for, oldest first (ADR 22). */
  readonly questions: readonly ApprovalRequest[];
  /** The last resolved approvals, oldest first, bounded. */
  readonly resolved: readonly ResolvedApproval[];
  /** Calls that need no further approval in this generation (A5/62), each for one person: see `grantOf`. */
  readonly grants: readonly string[];
  /** The parts of the last step's system prompt (A11/124). */
  readonly prompt: readonly PromptPart[];
  /** The skills that were last listed to the model (A15/166). */
  readonly skills: readonly SkillRef[];
  readonly review: IntrospectionState;
  /** Runs in other sessions that this one started and that have not ended (A11/125). */
  readonly spawned: readonly SpawnedRun[];
}

const noTokens: TokenCounts = { inputTokens: 0, outputTokens: 0, totalTokens: 0, contextTokens: 0, costUsd: 0 };
/** What a new generation starts with: none of what its predecessor gathered. */
export const freshGeneration = {
  messages: 0,
  completedTurns: 0,
  compactions: 0,
  usage: noTokens,
  queue: [],
  turn: null,
  approval: null,
  questions: [],
  resolved: [],
  grants: [],
  prompt: [],
  skills: [],
  review: { messages: 0, turns: 0, workingMemory: '', description: '', notedRev: 0 },
} as const;

/** A session that was never opened. */
export const neverOpened: SessionContext = {
  ...freshGeneration,
  sessionId: '',
  generation: 0,
  epoch: 0,
  settings: {},
  origin: {},
  route: null,
  deleted: false,
  deletedGeneration: 0,
  spawned: [],
};

/** Settings after a change; `null` unsets. */
export const settingsAfter = (before: Settings, changes: SettingsChange): Settings =>
  Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined));

export type ContextChange = Partial<SessionContext>;

export const withTurn = ({ turn }: SessionContext, change: Partial<ActiveTurn>): ContextChange => ({
  turn: turn && { ...turn, ...change },
});
export const progress = { resumes: 0, stalls: 0 } as const;

export const turnStarted = (
  { queue }: SessionContext,
  { turn, attempt, merged, quietUntil }: EventOf<'turn_started'>,
): ContextChange => {
  const ids = [turn.id, ...(merged ?? []).map(({ id }) => id)];
  return {
    turn: {
      ...progress,
      id: turn.id,
      attempt,
      messageId: turn.messageId,
      step: 1,
      calls: [],
      joined: 0,
      ...(quietUntil !== undefined && { quietUntil }),
      ...(merged && { merged: ids.slice(1) }),
      ...(turn.deliverTo && { deliverTo: turn.deliverTo }),
      ...(turn.task && { task: turn.task }),
      ...(turn.askedBy !== undefined && { askedBy: turn.askedBy }),
    },
    queue: queue.filter(({ id }) => !ids.includes(id)),
  };
};

export const turnJoined = ({ turn }: SessionContext, { quietUntil, askedBy: joining }: EventOf<'turn_joined'>): ContextChange => {
  if (turn === null) return {};
  const { askedBy, ...others } = turn;
  const isSame = askedBy !== undefined && askedBy === joining;
  const joined = { joined: turn.joined + 1, ...(quietUntil !== undefined && { quietUntil }) };
  return { turn: { ...others, ...(isSame && { askedBy }), ...joined } };
};

export const queueCleared = ({ queue }: SessionContext, { turnIds }: EventOf<'queue_cleared'>): ContextChange => ({
  queue: queue.filter(({ id }) => !turnIds.includes(id)),
});

export const turnResumed = (context: SessionContext, { turn, reason }: EventOf<'turn_resumed'>): ContextChange =>
  withTurn(context, {
    attempt: turn.attempt,
    resumes: (context.turn?.resumes ?? 0) + 1,
    stalls: (context.turn?.stalls ?? 0) + (reason === undefined ? 0 : 1),
  });

const spent = ({ usage: before }: SessionContext, usage: Usage) => ({
  inputTokens: before.inputTokens + usage.inputTokens,
  outputTokens: before.outputTokens + usage.outputTokens,
  totalTokens: before.totalTokens + usage.totalTokens,
  costUsd: before.costUsd + (usage.costUsd ?? 0),
});

/** A call before anybody has decided about it. */
export const pendingCall = ({ callId, tool, client }: ToolCall, { attempt }: TurnRef): CallState => ({
  ...{ callId, tool, status: 'pending', attempt, tries: 0 },
  ...(client && { client }),
});

export const stepRecorded = (
  context: SessionContext,
  { step, calls = [], usage, turn }: EventOf<'model_step'>,
): ContextChange => ({
  usage: {
    contextTokens: usage.inputTokens + usage.outputTokens,
    ...spent(context, usage),
    ...(usage.estimated && { estimated: true as const }),
  },
  ...withTurn(context, {
    ...progress,
    step: step + 1,
    calls: calls.map((call) => pendingCall(call, turn)),
  }),
});

const withCall = (context: SessionContext, callId: string, change: Partial<CallState>): ContextChange =>
  withTurn(context, {
    calls: (context.turn?.calls ?? []).map((call) => (call.callId === callId ? { ...call, ...change } : call)),
  });

/** A start is no progress: a call that takes its host down would be started for ever. */
export const callStarted = (context: SessionContext, event: EventOf<'tool_call_started'>): ContextChange => ({
  ...withCall(context, event.callId, {
    status: 'started',
    attempt: event.turn.attempt,
    tries: event.callAttempt,
    ...(event.spawn && { runId: event.spawn.runId }),
  }),
  ...(event.spawn && { spawned: [...context.spawned.filter(({ runId }) => runId !== event.spawn?.runId), event.spawn] }),
});
export const callEnded = (context: SessionContext, { callId }: EventOf<'tool_result'>): ContextChange => {
  const { turn } = withCall(context, callId, { status: 'done' });
  return { turn: turn && { ...turn, ...progress } };
};

export const compactionRecorded = (
  context: SessionContext,
  { tokensAfter, usage }: EventOf<'context_compacted'>,
): ContextChange => ({
  compactions: context.compactions + 1,
  usage: { contextTokens: tokensAfter, estimated: true, ...spent(context, usage) },
  ...withTurn(context, progress),
});
