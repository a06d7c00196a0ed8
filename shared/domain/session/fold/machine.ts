import { assign, fromCallback, type SnapshotFrom, setup } from 'xstate';
import { type ActiveTurn, neverOpened, type SessionContext } from '../context.ts';
import type { SessionEvent } from '../events.ts';
import { changedBy } from './changes.ts';

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
        client_results_awaited: { target: 'awaiting_results', actions: 'record' },
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
        approval_resolved: [
          {
            guard: ({ context, event }) => context.approval?.approvalId === event.approvalId,
            target: 'running',
            actions: 'record',
          },
          { actions: 'record' },
        ],
      },
    },
    awaiting_results: {
      on: {
        turn_queued: { actions: 'record' },
        turn_joined: { actions: 'record' },
        turn_aborted: { target: 'idle', actions: 'record' },
        queue_cleared: { actions: 'record' },
        client_results_received: { target: 'running', actions: 'record' },
      },
    },
  },
});

export type MachineSnapshot = SnapshotFrom<typeof sessionMachine>;
export type SessionStatus = 'idle' | 'running' | 'awaiting_approval' | 'awaiting_results' | 'inactive';
