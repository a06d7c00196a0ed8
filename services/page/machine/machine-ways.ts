import type { EventType, SessionEvent } from '../../../shared/domain/session/events.ts';
import type { SessionStatus as Status } from '../../../shared/domain/session/fold/machine.ts';

/** A way between two states: the events that take it, and how it is drawn. `isRare`: only where it was taken. */
export interface Way {
  readonly from: Status;
  readonly to: Status;
  readonly by: readonly EventType[];
  readonly path: string;
  readonly isRare?: true;
}

const isEnd: readonly EventType[] = ['session_deleted', 'history_damaged'];

/** All ways of `sessionMachine` from one state to another. */
export const ways: readonly Way[] = [
  { from: 'idle', to: 'running', by: ['turn_started'], path: 'M160 30H196' },
  {
    ...{ from: 'running', to: 'idle', path: 'M200 46H164' },
    by: ['turn_completed', 'turn_failed', 'turn_aborted', 'session_reset'],
  },
  { from: 'idle', to: 'inactive', by: ['session_deactivated', ...isEnd], path: 'M70 60V112' },
  { from: 'inactive', to: 'idle', by: ['session_opened', 'session_reopened', 'session_reset'], path: 'M100 116V64' },
  { from: 'running', to: 'awaiting_approval', by: ['approval_requested'], path: 'M262 60V112' },
  { from: 'awaiting_approval', to: 'running', by: ['approval_resolved'], path: 'M292 116V64' },
  { from: 'awaiting_approval', to: 'idle', by: ['turn_aborted', 'session_reset'], path: 'M200 122L148 64' },
  { from: 'running', to: 'awaiting_results', by: ['client_results_awaited'], path: 'M350 30H386' },
  { from: 'awaiting_results', to: 'running', by: ['client_results_received'], path: 'M390 46H354' },
  { from: 'awaiting_results', to: 'idle', by: ['turn_aborted', 'session_reset'], path: 'M400 60Q290 104 160 62' },
  { from: 'running', to: 'inactive', by: isEnd, path: 'M212 60L154 113', isRare: true },
  { from: 'awaiting_approval', to: 'inactive', by: isEnd, path: 'M200 148H164', isRare: true },
  { from: 'awaiting_results', to: 'inactive', by: isEnd, path: 'M440 60Q400 196 164 156', isRare: true },
];

/** A way that a commit took, and the event that took it. */
interface TakenWay<Event> {
  readonly way: Way;
  readonly event: Event;
}

/** The ways that a commit took from one state to another by its events, such as to `running` and back in one. */
export const waysTaken = <Event extends Pick<SessionEvent, 'type'>>(
  from: Status,
  to: Status,
  events: readonly Event[],
): readonly TakenWay<Event>[] => {
  const taken: TakenWay<Event>[] = [];
  let at = from;
  for (const event of events) {
    const way = ways.find((each) => each.from === at && each.by.includes(event.type));
    if (way) taken.push({ way, event });
    at = way?.to ?? at;
  }
  // An approval that is asked for or answered beside the one that the turn waits for takes no way.
  return at === to ? taken : [];
};
