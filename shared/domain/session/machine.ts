import { assign, fromCallback, type SnapshotFrom, setup } from 'xstate';
import { detachedString } from '../../kit/detached-string.ts';
import { answered, messageAdded, requestOf, resultsAwaited, resultsReceived, runEnded, runsStopped } from './answered.ts';
import {
  type ActiveTurn,
  callEnded,
  callStarted,
  compactionRecorded,
  freshGeneration,
  neverOpened,
  queueCleared,
  type SessionContext,
  settingsAfter,
  stepRecorded,
  turnJoined,
  turnResumed,
  turnStarted,
} from './context.ts';
import type { EventOf, SessionEvent } from './events.ts';
import { checkpointRequested, introspected } from './introspection.ts';

/**
 * Which facts are possible in which status. The machine's event type is `SessionEvent`: commands never reach it. Only `assign`; no clock, no
 * `onDone`, `onError`, `after`, `always`, `raise`: results and timers come back as commands. The invoked `turn` is the one effect,
 * and it starts only because a freshly recorded event made the live actor enter `running`.
 */

/** What a turn needs to start. */
export interface TurnInput {
  readonly sessionId: string;
  readonly epoch: number;
  readonly turn: ActiveTurn;
}

/** The go-ahead for the invoked turn. `start` runs the turn and returns what stops it. */
export interface StartTurn {
  readonly type: 'start_turn';
  start(input: TurnInput): () => void;
}

/**
 * The turn waits for its go-ahead, which comes once the live actor has received a whole commit: a turn that ends within its own commit never
 * starts. Leaving `running` stops it. Without a go-ahead, as in the fold, nothing runs.
 */
const turn = fromCallback<StartTurn, TurnInput>(({ input, receive }) => {
  let stop = (): void => {};
  receive(({ start }) => {
    stop = start(input);
  });
  return () => stop();
});

export const sessionMachine = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent },
  actors: { turn },
  actions: {
    openSession: assign((_, p: EventOf<'session_opened'>) => ({
      sessionId: detachedString(p.sessionId),
      generation: p.generation,
      deleted: false,
    })),
    setOrigin: assign((_, p: EventOf<'origin_changed'>) => ({ origin: p.origin })),
    setRoute: assign((_, p: EventOf<'route_changed'>) => ({ route: p.deliverTo })),
    changeSettings: assign(({ context }, p: EventOf<'settings_changed'>) => ({
      settings: settingsAfter(context.settings, p.changes),
    })),
    setPrompt: assign((_, p: EventOf<'prompt_changed'>) => ({ prompt: p.parts })),
    setSkills: assign((_, p: EventOf<'skills_changed'>) => ({ skills: p.skills })),
    requestCheckpoint: assign(({ context }, p: EventOf<'checkpoint_requested'>) => checkpointRequested(context, p)),
    recordIntrospection: assign(({ context }, p: EventOf<'introspected'>) => introspected(context, p)),
    addMessage: assign(({ context }, p: EventOf<'user_message'>) => messageAdded(context, p)),
    refuseMessage: assign(({ context }, p: EventOf<'message_refused'>) => ({
      messages: context.messages,
      ...runEnded(context, p),
    })),
    countAnswer: assign(({ context }) => ({ messages: context.messages + 1 })),
    /** Accepts an event that changes nothing: an event without an action would count as impossible. */
    acknowledge: assign(({ context }) => ({ messages: context.messages })),
    enqueueTurn: assign(({ context }, p: EventOf<'turn_queued'>) => ({ queue: [...context.queue, p.turn] })),
    startTurn: assign(({ context }, p: EventOf<'turn_started'>) => turnStarted(context, p)),
    joinTurn: assign(({ context }, p: EventOf<'turn_joined'>) => turnJoined(context, p)),
    resumeTurn: assign(({ context }, p: EventOf<'turn_resumed'>) => turnResumed(context, p)),
    recordStep: assign(({ context }, p: EventOf<'model_step'>) => stepRecorded(context, p)),
    startCall: assign(({ context }, p: EventOf<'tool_call_started'>) => callStarted(context, p)),
    endCall: assign(({ context }, p: EventOf<'tool_result'>) => callEnded(context, p)),
    recordCompaction: assign(({ context }, p: EventOf<'context_compacted'>) => compactionRecorded(context, p)),
    completeTurn: assign(({ context }) => ({ turn: null, completedTurns: context.completedTurns + 1 })),
    failTurn: assign({ turn: null }),
    abortTurn: assign(({ context: { approval, epoch } }) => ({
      turn: null,
      approval: approval?.deferred ? approval : null,
      epoch: epoch + 1,
    })),
    clearQueue: assign(({ context }, p: EventOf<'queue_cleared'>) => queueCleared(context, p)),
    stopRuns: assign(({ context }, p: EventOf<'runs_stopped'>) => runsStopped(context, p)),
    requestApproval: assign((_, p: EventOf<'approval_requested'>) => ({ approval: requestOf(p) })),
    resolveApproval: assign(({ context }, p: EventOf<'approval_resolved'>) => answered(context, p)),
    awaitResults: assign(({ context }, p: EventOf<'client_results_awaited'>) => resultsAwaited(context, p)),
    receiveResults: assign(({ context }, p: EventOf<'client_results_received'>) => resultsReceived(context, p)),
    resetSession: assign(({ context }, p: EventOf<'session_reset'>) => ({
      ...freshGeneration,
      sessionId: detachedString(p.sessionId),
      generation: p.generation,
      epoch: context.epoch + 1,
      queue: p.keepsQueue ? context.queue : [],
    })),
    deleteSession: assign((_, { sessionId, generation, epoch }: EventOf<'session_deleted'>) => ({
      ...neverOpened,
      sessionId: detachedString(sessionId),
      generation,
      epoch,
      deleted: true,
      deletedGeneration: generation,
    })),
    /** All that was known is void but the numbers that must not be used again; the events after it say what goes on. */
    restartDamaged: assign((_, { sessionId, generation, epoch }: EventOf<'history_damaged'>) => ({
      ...neverOpened,
      sessionId: detachedString(sessionId),
      generation,
      epoch,
    })),
  },
}).createMachine({
  id: 'session',
  initial: 'inactive',
  context: neverOpened,
  on: {
    user_message: { actions: { type: 'addMessage', params: ({ event }) => event } },
    message_edited: { actions: 'acknowledge' },
    message_withdrawn: { actions: 'acknowledge' },
    message_refused: { actions: { type: 'refuseMessage', params: ({ event }) => event } },
    participant_resolved: { actions: 'acknowledge' },
    origin_changed: { actions: { type: 'setOrigin', params: ({ event }) => event } },
    route_changed: { actions: { type: 'setRoute', params: ({ event }) => event } },
    tool_output: { actions: 'acknowledge' },
    runs_stopped: { actions: { type: 'stopRuns', params: ({ event }) => event } },
    settings_changed: { actions: { type: 'changeSettings', params: ({ event }) => event } },
    notice: { actions: 'acknowledge' },
    // Of a call that no turn waits for (ADR 22).
    approval_resolved: { actions: { type: 'resolveApproval', params: ({ event }) => event } },
    checkpoint_requested: { actions: { type: 'requestCheckpoint', params: ({ event }) => event } },
    introspected: { actions: { type: 'recordIntrospection', params: ({ event }) => event } },
    introspection_failed: { actions: 'acknowledge' },
    memory_changed: { actions: 'acknowledge' },
    delivery_reported: { actions: 'acknowledge' },
    delivery_repeated: { actions: 'acknowledge' },
    session_deleted: { target: '.inactive', actions: { type: 'deleteSession', params: ({ event }) => event } },
    history_damaged: { target: '.inactive', actions: { type: 'restartDamaged', params: ({ event }) => event } },
    session_reset: { target: '.idle', actions: { type: 'resetSession', params: ({ event }) => event } },
  },
  states: {
    inactive: {
      on: {
        session_opened: { target: 'idle', actions: { type: 'openSession', params: ({ event }) => event } },
        session_reopened: 'idle',
      },
    },
    idle: {
      on: {
        turn_started: { target: 'running', actions: { type: 'startTurn', params: ({ event }) => event } },
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
        turn_queued: { actions: { type: 'enqueueTurn', params: ({ event }) => event } },
        turn_joined: { actions: { type: 'joinTurn', params: ({ event }) => event } },
        prompt_changed: { actions: { type: 'setPrompt', params: ({ event }) => event } },
        skills_changed: { actions: { type: 'setSkills', params: ({ event }) => event } },
        tool_call_started: { actions: { type: 'startCall', params: ({ event }) => event } },
        tool_result: { actions: { type: 'endCall', params: ({ event }) => event } },
        context_compacted: { actions: { type: 'recordCompaction', params: ({ event }) => event } },
        turn_resumed: { target: 'running', reenter: true, actions: { type: 'resumeTurn', params: ({ event }) => event } },
        model_step: { actions: { type: 'recordStep', params: ({ event }) => event } },
        assistant_message: { actions: 'countAnswer' },
        turn_completed: { target: 'idle', actions: 'completeTurn' },
        turn_failed: { target: 'idle', actions: 'failTurn' },
        turn_aborted: { target: 'idle', actions: 'abortTurn' },
        queue_cleared: { actions: { type: 'clearQueue', params: ({ event }) => event } },
        client_results_awaited: {
          target: 'awaiting_results',
          actions: { type: 'awaitResults', params: ({ event }) => event },
        },
        approval_requested: [
          {
            guard: ({ event }) => event.deferred !== undefined,
            actions: { type: 'requestApproval', params: ({ event }) => event },
          },
          { target: 'awaiting_approval', actions: { type: 'requestApproval', params: ({ event }) => event } },
        ],
      },
    },
    awaiting_approval: {
      on: {
        turn_queued: { actions: { type: 'enqueueTurn', params: ({ event }) => event } },
        turn_joined: { actions: { type: 'joinTurn', params: ({ event }) => event } },
        turn_aborted: { target: 'idle', actions: 'abortTurn' },
        queue_cleared: { actions: { type: 'clearQueue', params: ({ event }) => event } },
        approval_resolved: { target: 'running', actions: { type: 'resolveApproval', params: ({ event }) => event } },
      },
    },
    awaiting_results: {
      on: {
        turn_queued: { actions: { type: 'enqueueTurn', params: ({ event }) => event } },
        turn_joined: { actions: { type: 'joinTurn', params: ({ event }) => event } },
        turn_aborted: { target: 'idle', actions: 'abortTurn' },
        queue_cleared: { actions: { type: 'clearQueue', params: ({ event }) => event } },
        client_results_received: { target: 'running', actions: { type: 'receiveResults', params: ({ event }) => event } },
      },
    },
  },
});

export type MachineSnapshot = SnapshotFrom<typeof sessionMachine>;
export type SessionStatus = 'idle' | 'running' | 'awaiting_approval' | 'awaiting_results' | 'inactive';
