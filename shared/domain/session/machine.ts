import { assign, fromCallback, type SnapshotFrom, setup } from 'xstate';
import { detachedString } from '../../kit/detached-string.ts';
import { answered, requestOf } from './answered.ts';
import {
  type ActiveTurn,
  callEnded,
  callStarted,
  compacted,
  emptyContext,
  emptyGeneration,
  joined,
  remembered,
  resumed,
  runEnded,
  runsStopped,
  type SessionContext,
  settingsAfter,
  stepped,
  turnStarted,
} from './context.ts';
import type { EventOf, SessionEvent } from './events.ts';
import { checkpointRequested, introspected } from './introspection.ts';

/**
 * Which facts are possible when. The machine's event type is `SessionEvent`: commands never reach it. Only `assign`; no clock, no
 * `onDone`, `onError`, `after`, `always`, `raise`: results and timers come back as commands. The invoked `turn` is the one effect,
 * and it starts only because a freshly recorded event made the live actor enter `running`.
 */

/** What a turn needs to begin. */
export interface TurnInput {
  readonly sessionId: string;
  readonly epoch: number;
  readonly turn: ActiveTurn;
}

const notProvided = fromCallback<SessionEvent, TurnInput>(() => {});

export const sessionMachine = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent },
  actors: { turn: notProvided },
  actions: {
    open: assign((_, p: EventOf<'session_opened'>) => ({
      sessionId: detachedString(p.sessionId),
      generation: p.generation,
      deleted: false,
    })),
    learn: assign((_, p: EventOf<'origin_changed'>) => ({ origin: p.origin })),
    route: assign((_, p: EventOf<'route_changed'>) => ({ route: p.deliverTo })),
    set: assign(({ context }, p: EventOf<'settings_changed'>) => ({ settings: settingsAfter(context.settings, p.changes) })),
    prompt: assign((_, p: EventOf<'prompt_changed'>) => ({ prompt: p.parts })),
    equip: assign((_, p: EventOf<'skills_changed'>) => ({ skills: p.skills })),
    askReview: assign(({ context }, p: EventOf<'checkpoint_requested'>) => checkpointRequested(context, p)),
    review: assign(({ context }, p: EventOf<'introspected'>) => introspected(context, p)),
    remember: assign(({ context }, p: EventOf<'user_message'>) => remembered(context, p)),
    refuse: assign(({ context }, p: EventOf<'message_refused'>) => ({ messages: context.messages, ...runEnded(context, p) })),
    say: assign(({ context }) => ({ messages: context.messages + 1 })),
    note: assign(({ context }) => ({ messages: context.messages })),
    enqueue: assign(({ context }, p: EventOf<'turn_queued'>) => ({ queue: [...context.queue, p.turn] })),
    begin: assign(({ context }, p: EventOf<'turn_started'>) => turnStarted(context, p)),
    join: assign(({ context }, p: EventOf<'turn_joined'>) => joined(context, p)),
    resume: assign(({ context }, p: EventOf<'turn_resumed'>) => resumed(context, p)),
    step: assign(({ context }, p: EventOf<'model_step'>) => stepped(context, p)),
    startCall: assign(({ context }, p: EventOf<'tool_call_started'>) => callStarted(context, p)),
    endCall: assign(({ context }, p: EventOf<'tool_result'>) => callEnded(context, p)),
    compact: assign(({ context }, p: EventOf<'context_compacted'>) => compacted(context, p)),
    finish: assign(({ context }) => ({ turn: null, completedTurns: context.completedTurns + 1 })),
    fail: assign({ turn: null }),
    abort: assign(({ context }) => ({ turn: null, approval: null, epoch: context.epoch + 1 })),
    clearQueue: assign({ queue: [] }),
    stopRuns: assign(({ context }, p: EventOf<'runs_stopped'>) => runsStopped(context, p)),
    ask: assign((_, p: EventOf<'approval_requested'>) => ({ approval: requestOf(p) })),
    answer: assign(({ context }, p: EventOf<'approval_resolved'>) => answered(context, p)),
    reset: assign(({ context }, p: EventOf<'session_reset'>) => ({
      ...emptyGeneration,
      sessionId: detachedString(p.sessionId),
      generation: p.generation,
      epoch: context.epoch + 1,
      queue: p.keepsQueue ? context.queue : [],
    })),
    forget: assign((_, { sessionId, generation, epoch }: EventOf<'session_deleted'>) => ({
      ...emptyContext,
      sessionId: detachedString(sessionId),
      generation,
      epoch,
      deleted: true,
      deletedGeneration: generation,
    })),
  },
}).createMachine({
  id: 'session',
  initial: 'inactive',
  context: emptyContext,
  on: {
    user_message: { actions: { type: 'remember', params: ({ event }) => event } },
    message_refused: { actions: { type: 'refuse', params: ({ event }) => event } },
    participant_resolved: { actions: 'note' },
    origin_changed: { actions: { type: 'learn', params: ({ event }) => event } },
    route_changed: { actions: { type: 'route', params: ({ event }) => event } },
    tool_output: { actions: 'note' },
    runs_stopped: { actions: { type: 'stopRuns', params: ({ event }) => event } },
    settings_changed: { actions: { type: 'set', params: ({ event }) => event } },
    notice: { actions: 'note' },
    checkpoint_requested: { actions: { type: 'askReview', params: ({ event }) => event } },
    introspected: { actions: { type: 'review', params: ({ event }) => event } },
    introspection_failed: { actions: 'note' },
    memory_changed: { actions: 'note' },
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
        turn_joined: { actions: { type: 'join', params: ({ event }) => event } },
        prompt_changed: { actions: { type: 'prompt', params: ({ event }) => event } },
        skills_changed: { actions: { type: 'equip', params: ({ event }) => event } },
        tool_call_started: { actions: { type: 'startCall', params: ({ event }) => event } },
        tool_result: { actions: { type: 'endCall', params: ({ event }) => event } },
        context_compacted: { actions: { type: 'compact', params: ({ event }) => event } },
        turn_resumed: { target: 'running', reenter: true, actions: { type: 'resume', params: ({ event }) => event } },
        model_step: { actions: { type: 'step', params: ({ event }) => event } },
        assistant_message: { actions: 'say' },
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
        turn_joined: { actions: { type: 'join', params: ({ event }) => event } },
        turn_aborted: { target: 'idle', actions: 'abort' },
        queue_cleared: { actions: 'clearQueue' },
        approval_resolved: { target: 'running', actions: { type: 'answer', params: ({ event }) => event } },
      },
    },
  },
});

export type MachineSnapshot = SnapshotFrom<typeof sessionMachine>;
export type SessionStatus = 'idle' | 'running' | 'awaiting_approval' | 'inactive';
