import { assign, fromCallback, type SnapshotFrom, setup } from 'xstate';
import { flat } from '../kit/flat.ts';
import type { EventOf, QueuedTurn, SessionEvent } from './events.ts';
import type { DeliveryTarget, Origin, Settings, SettingsChange, TurnRef } from './types.ts';

/**
 * Which facts are possible when. The machine's event type is `SessionEvent`: commands never reach it. Only `assign`; no clock, no
 * `onDone`, `onError`, `after`, `always`, `raise`: results and timers come back as commands (§4). The invoked `turn` is the one effect,
 * and it starts only because a freshly recorded event made the live actor enter `running`.
 */

/** The running turn. `step` is the next model step to take, from 1; `resumes` counts attempts since the last recorded step. */
export interface ActiveTurn extends TurnRef {
  readonly messageId: string;
  readonly step: number;
  readonly resumes: number;
  readonly deliverTo?: DeliveryTarget;
}
export interface PendingApproval {
  readonly approvalId: string;
  readonly action: string;
  readonly expiresAt: number;
}
/** Tokens of this generation; `contextTokens` are those of the last model step: how full the model's window is (A1/3). */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly contextTokens: number;
}
export interface SessionContext {
  readonly sessionId: string;
  /** Grows with each reset. 0: never opened. */
  readonly generation: number;
  /** Grows with each stop and reset; nothing of an older epoch follows a newer one (I5). */
  readonly epoch: number;
  readonly messages: number;
  readonly completedTurns: number;
  readonly usage: TokenCounts;
  readonly settings: Settings;
  readonly origin: Origin;
  /** Deleted: the next message begins anew instead of reopening (C9). */
  readonly deleted: boolean;
  /** The last generation that was deleted; 0: none. */
  readonly deletedGeneration: number;
  readonly queue: readonly QueuedTurn[];
  readonly turn: ActiveTurn | null;
  readonly approval: PendingApproval | null;
}
/** What a turn needs to begin. */
export interface TurnInput {
  readonly sessionId: string;
  readonly epoch: number;
  readonly turn: ActiveTurn;
}

const notProvided = fromCallback<SessionEvent, TurnInput>(() => {});

const begin = ({ turn, attempt }: EventOf<'turn_started'>, queue: readonly QueuedTurn[]): Partial<SessionContext> => ({
  turn: {
    id: turn.id,
    attempt,
    messageId: turn.messageId,
    step: 1,
    resumes: 0,
    ...(turn.deliverTo && { deliverTo: turn.deliverTo }),
  },
  queue: queue.filter(({ id }) => id !== turn.id),
});

const withTurn = (turn: ActiveTurn | null, change: Partial<ActiveTurn>): Partial<SessionContext> => ({
  turn: turn && { ...turn, ...change },
});

const noTokens: TokenCounts = { inputTokens: 0, outputTokens: 0, totalTokens: 0, contextTokens: 0 };
/** What a new generation has none of. */
const blank = { messages: 0, completedTurns: 0, usage: noTokens, queue: [], turn: null, approval: null } as const;

/** A session of which nothing is known. */
const nobody: SessionContext = {
  ...blank,
  sessionId: '',
  generation: 0,
  epoch: 0,
  settings: {},
  origin: {},
  deleted: false,
  deletedGeneration: 0,
};

/** Settings after a change; `null` unsets. */
export const settingsAfter = (before: Settings, changes: SettingsChange): Settings =>
  Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined));

const usageAfter = (before: TokenCounts, { usage }: EventOf<'model_step'>): TokenCounts => ({
  inputTokens: before.inputTokens + usage.inputTokens,
  outputTokens: before.outputTokens + usage.outputTokens,
  totalTokens: before.totalTokens + usage.totalTokens,
  contextTokens: usage.inputTokens + usage.outputTokens,
});

export const sessionMachine = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent },
  actors: { turn: notProvided },
  actions: {
    open: assign((_, p: EventOf<'session_opened'>) => ({
      sessionId: flat(p.sessionId),
      generation: p.generation,
      deleted: false,
    })),
    learn: assign((_, p: EventOf<'origin_changed'>) => ({ origin: p.origin })),
    set: assign(({ context }, p: EventOf<'settings_changed'>) => ({ settings: settingsAfter(context.settings, p.changes) })),
    remember: assign(({ context }) => ({ messages: context.messages + 1 })),
    note: assign(({ context }) => ({ messages: context.messages })),
    enqueue: assign(({ context }, p: EventOf<'turn_queued'>) => ({ queue: [...context.queue, p.turn] })),
    begin: assign(({ context }, p: EventOf<'turn_started'>) => begin(p, context.queue)),
    resume: assign(({ context }, p: EventOf<'turn_resumed'>) =>
      withTurn(context.turn, { attempt: p.turn.attempt, resumes: (context.turn?.resumes ?? 0) + 1 }),
    ),
    step: assign(({ context }, p: EventOf<'model_step'>) => ({
      ...withTurn(context.turn, { step: p.step + 1, resumes: 0 }),
      usage: usageAfter(context.usage, p),
    })),
    finish: assign(({ context }) => ({ turn: null, completedTurns: context.completedTurns + 1 })),
    fail: assign({ turn: null }),
    abort: assign(({ context }) => ({ turn: null, approval: null, epoch: context.epoch + 1 })),
    clearQueue: assign({ queue: [] }),
    ask: assign((_, p: EventOf<'approval_requested'>) => ({
      approval: { approvalId: p.approvalId, action: p.action, expiresAt: p.expiresAt },
    })),
    answer: assign(({ context }, p: EventOf<'approval_resolved'>) => ({
      approval: null,
      ...withTurn(context.turn, { attempt: p.turn.attempt }),
    })),
    reset: assign(({ context }, p: EventOf<'session_reset'>) => ({
      ...blank,
      sessionId: flat(p.sessionId),
      generation: p.generation,
      epoch: context.epoch + 1,
      queue: p.keepsQueue ? context.queue : [],
    })),
    forget: assign((_, { sessionId, generation, epoch }: EventOf<'session_deleted'>) => ({
      ...nobody,
      sessionId: flat(sessionId),
      generation,
      epoch,
      deleted: true,
      deletedGeneration: generation,
    })),
  },
}).createMachine({
  id: 'session',
  initial: 'inactive',
  context: nobody,
  on: {
    user_message: { actions: 'remember' },
    message_refused: { actions: 'note' },
    participant_resolved: { actions: 'note' },
    origin_changed: { actions: { type: 'learn', params: ({ event }) => event } },
    route_changed: { actions: 'note' },
    settings_changed: { actions: { type: 'set', params: ({ event }) => event } },
    notice: { actions: 'note' },
    checkpoint_requested: { actions: 'note' },
    session_deleted: { target: '.inactive', actions: { type: 'forget', params: ({ event }) => event } },
    session_reset: { target: '.idle', actions: { type: 'reset', params: ({ event }) => event } },
  },
  states: {
    inactive: {
      on: {
        session_opened: { target: 'idle', actions: { type: 'open', params: ({ event }) => event } },
        session_reopened: 'idle',
      },
    },
    idle: {
      on: {
        turn_started: { target: 'running', actions: { type: 'begin', params: ({ event }) => event } },
        session_deactivated: 'inactive',
      },
    },
    running: {
      invoke: {
        id: 'turn',
        src: 'turn',
        input: ({ context }) => ({ sessionId: context.sessionId, epoch: context.epoch, turn: context.turn as ActiveTurn }),
      },
      on: {
        turn_queued: { actions: { type: 'enqueue', params: ({ event }) => event } },
        turn_resumed: { target: 'running', reenter: true, actions: { type: 'resume', params: ({ event }) => event } },
        model_step: { actions: { type: 'step', params: ({ event }) => event } },
        assistant_message: { actions: 'remember' },
        turn_completed: { target: 'idle', actions: 'finish' },
        turn_failed: { target: 'idle', actions: 'fail' },
        turn_aborted: { target: 'idle', actions: 'abort' },
        queue_cleared: { actions: 'clearQueue' },
        approval_requested: { target: 'awaiting_approval', actions: { type: 'ask', params: ({ event }) => event } },
      },
    },
    awaiting_approval: {
      on: {
        turn_queued: { actions: { type: 'enqueue', params: ({ event }) => event } },
        turn_aborted: { target: 'idle', actions: 'abort' },
        queue_cleared: { actions: 'clearQueue' },
        approval_resolved: { target: 'running', actions: { type: 'answer', params: ({ event }) => event } },
      },
    },
  },
});

export type MachineSnapshot = SnapshotFrom<typeof sessionMachine>;
export type SessionStatus = 'idle' | 'running' | 'awaiting_approval' | 'inactive';
