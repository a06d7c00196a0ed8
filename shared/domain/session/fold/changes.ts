import { detachedString } from '../../../kit/text/detached-string.ts';
import { answered, asked, messageAdded, resultsAwaited, resultsReceived, runEnded, runsStopped } from '../answered.ts';
import {
  type ContextChange,
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
} from '../context.ts';
import type { EventOf, EventType, SessionEvent } from '../events.ts';
import { checkpointRequested, introspected } from '../introspection.ts';

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
  turn_aborted: ({ epoch }) => ({ turn: null, approval: null, epoch: epoch + 1 }),
  queue_cleared: queueCleared,
  runs_stopped: runsStopped,
  model_step: stepRecorded,
  tool_call_started: callStarted,
  tool_result: callEnded,
  tool_output: none,
  context_compacted: compactionRecorded,
  client_results_awaited: resultsAwaited,
  client_results_received: resultsReceived,
  approval_requested: asked,
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
