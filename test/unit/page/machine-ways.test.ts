import { expect, test } from 'vitest';
import { ways, waysTaken } from '../../../services/page/machine/machine-ways.ts';
import type { EventType } from '../../../shared/domain/session/events.ts';
import { type SessionStatus, sessionMachine } from '../../../shared/domain/session/fold/machine.ts';

/** The diagram of the time machine is the machine that the runtime uses. */

const { root } = sessionMachine;
const wayNames = Object.values(root.states).flatMap((state) =>
  [...root.transitions, ...state.transitions].flatMap(([event, transitions]) =>
    transitions
      .flatMap(({ target = [] }) => target)
      .filter(({ key }) => key !== state.key)
      .map(({ key }) => `${state.key} to ${key} by ${event}`),
  ),
);

test('it has each way of the machine from one state to another, with the events that take it, and no other', () => {
  const drawn = ways.flatMap(({ from, to, by }) => by.map((event) => `${from} to ${to} by ${event}`));
  expect(drawn.toSorted()).toEqual(wayNames.toSorted());
});

test.each<[SessionStatus, SessionStatus, EventType[], string[]]>([
  ['idle', 'running', ['user_message', 'turn_started'], ['idle to running by turn_started']],
  [
    'inactive',
    'running',
    ['session_opened', 'turn_started'],
    ['inactive to idle by session_opened', 'idle to running by turn_started'],
  ],
  ['idle', 'idle', ['turn_started', 'turn_failed'], ['idle to running by turn_started', 'running to idle by turn_failed']],
  ['running', 'inactive', ['session_deleted'], ['running to inactive by session_deleted']],
  ['running', 'running', ['approval_requested'], []],
])('a commit from %s to %s by %j lights %j', (before, status, types, expected) => {
  const taken = waysTaken(
    before,
    status,
    types.map((type) => ({ type })),
  );
  expect(taken.map(({ way: { from, to }, event }) => `${from} to ${to} by ${event.type}`)).toEqual(expected);
});
