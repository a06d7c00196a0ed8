import { assign, fromCallback, type SnapshotFrom, setup } from 'xstate';
import { detachedString } from '../../kit/detached-string.ts';
import { answered, requestOf } from './answered.ts';
import {
  type ActiveTurn,
  type ContextChange,
  callEnded,
  callStarted,
  compactionRecorded,
  freshGeneration,
  messageAdded,
  neverOpened,
  queueCleared,
  runEnded,
  runsStopped,
  type SessionContext,
  settingsAfter,
  stepRecorded,
  turnJoined,
  turnResumed,
  turnStarted,
} from './context.ts';
import type { EventOf, EventType, SessionEvent } from './events.ts';
import { checkpointRequested, introspected } from './introspection.ts';

/**
 * Which facts are possible in which status. The machine's event type is `SessionEvent`: commands never reach it. Its one action records what the
 * event changes, whatever the status. No clock, no `onDone`, `onError`, `after`, `always`, `raise`: results and timers come back as commands.
 * The invoked `turn` is the one effect, and it starts only because a freshly recorded event made the live actor enter `running`.
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

type Changes = { readonly [T in EventType]: (context: SessionContext, event: EventOf<T>) => ContextChange };

const none = (): ContextChange => ({});

/** What each event changes of what a session knows, whatever its status. A change for the wrong event does not compile. */
const changes: Changes = {
  session_opened: (_, { sessionId, generation }) => ({ sessionId: detachedString(sessionId), generation, deleted: false }),
  session_reopened: none,
  session_deactivated: none,
  session_reset: ({ epoch, queue }, { sessionId, generation, keepsQueue }) => ({
    ...freshGeneration,
    sessionId: detachedString(sessionId),
    generation,
    epoch: epoch + 1,
    queue: keepsQueue ? queue : [],
  }),
  session_deleted: (_, { sessionId, generation, epoch }) => ({
    ...neverOpened,
    sessionId: detachedString(sessionId),
    generation,
    epoch,
    deleted: true,
    deletedGeneration: generation,
  }),
  /** All that was known is void but the numbers that must not be used again; the events after it say what goes on. */
  history_damaged: (_, { sessionId, generation, epoch }) => ({
    ...neverOpened,
    sessionId: detachedString(sessionId),
    generation,
    epoch,
  }),
  origin_changed: (_, { origin }) => ({ origin }),
  route_changed: (_, { deliverTo }) => ({ route: deliverTo }),
  settings_changed: ({ settings }, event) => ({ settings: settingsAfter(settings, event.changes) }),
  prompt_changed: (_, { parts }) => ({ prompt: parts }),
  skills_changed: (_, { skills }) => ({ skills }),
  user_message: messageAdded,
  message_edited: none,
  message_withdrawn: none,
  message_refused: runEnded,
  participant_resolved: none,
  assistant_message: ({ messages }) => ({ messages: messages + 1 }),
  notice: none,
  turn_queued: ({ queue }, { turn }) => ({ queue: [...queue, turn] }),
  turn_started: turnStarted,
  turn_joined: turnJoined,
  turn_resumed: turnResumed,
  turn_completed: ({ completedTurns }) => ({ turn: null, completedTurns: completedTurns + 1 }),
  turn_failed: () => ({ turn: null }),
  turn_aborted: ({ approval, epoch }) => ({ turn: null, approval: approval?.deferred ? approval : null, epoch: epoch + 1 }),
  queue_cleared: queueCleared,
  runs_stopped: runsStopped,
  model_step: stepRecorded,
  tool_call_started: callStarted,
  tool_result: callEnded,
  tool_output: none,
  context_compacted: compactionRecorded,
  approval_requested: (_, event) => ({ approval: requestOf(event) }),
  approval_resolved: answered,
  checkpoint_requested: checkpointRequested,
  introspected,
  introspection_failed: none,
  memory_changed: none,
  delivery_reported: none,
  delivery_repeated: none,
};

/** The change of the event's own type, which TypeScript does not narrow by itself. */
const changeOf = <T extends EventType>(type: T, context: SessionContext, event: SessionEvent & { readonly type: T }) =>
  changes[type](context, event as EventOf<T>);

/** What a session knows after an event. */
export const changedBy = (context: SessionContext, event: SessionEvent): SessionContext => ({
  ...context,
  ...changeOf(event.type, context, event),
});

export const sessionMachine = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent },
  actors: { turn },
  actions: { record: assign(({ context, event }) => changedBy(context, event)) },
}).createMachine({
  id: 'session',
  initial: 'inactive',
  context: neverOpened,
  on: {
    user_message: { actions: 'record' },
    message_edited: { actions: 'record' },
    message_withdrawn: { actions: 'record' },
    message_refused: { actions: 'record' },
    participant_resolved: { actions: 'record' },
    origin_changed: { actions: 'record' },
    route_changed: { actions: 'record' },
    tool_output: { actions: 'record' },
    runs_stopped: { actions: 'record' },
    settings_changed: { actions: 'record' },
    notice: { actions: 'record' },
    // Of a call that no turn waits for (ADR 22).
    approval_resolved: { actions: 'record' },
    checkpoint_requested: { actions: 'record' },
    introspected: { actions: 'record' },
    introspection_failed: { actions: 'record' },
    memory_changed: { actions: 'record' },
    delivery_reported: { actions: 'record' },
    delivery_repeated: { actions: 'record' },
    session_deleted: { target: '.inactive', actions: 'record' },
    history_damaged: { target: '.inactive', actions: 'record' },
    session_reset: { target: '.idle', actions: 'record' },
  },
  states: {
    inactive: {
      on: {
        session_opened: { target: 'idle', actions: 'record' },
        session_reopened: 'idle',
      },
    },
    idle: {
      on: {
        turn_started: { target: 'running', actions: 'record' },
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
        turn_queued: { actions: 'record' },
        turn_joined: { actions: 'record' },
        prompt_changed: { actions: 'record' },
        skills_changed: { actions: 'record' },
        tool_call_started: { actions: 'record' },
        tool_result: { actions: 'record' },
        context_compacted: { actions: 'record' },
        turn_resumed: { target: 'running', reenter: true, actions: 'record' },
        model_step: { actions: 'record' },
        assistant_message: { actions: 'record' },
        turn_completed: { target: 'idle', actions: 'record' },
        turn_failed: { target: 'idle', actions: 'record' },
        turn_aborted: { target: 'idle', actions: 'record' },
        queue_cleared: { actions: 'record' },
        approval_requested: [
          {
            guard: ({ event }) => event.deferred !== undefined,
            actions: 'record',
          },
          { target: 'awaiting_approval', actions: 'record' },
        ],
      },
    },
    awaiting_approval: {
      on: {
        turn_queued: { actions: 'record' },
        turn_joined: { actions: 'record' },
        turn_aborted: { target: 'idle', actions: 'record' },
        queue_cleared: { actions: 'record' },
        approval_resolved: { target: 'running', actions: 'record' },
      },
    },
  },
});

export type MachineSnapshot = SnapshotFrom<typeof sessionMachine>;
export type SessionStatus = 'idle' | 'running' | 'awaiting_approval' | 'inactive';
