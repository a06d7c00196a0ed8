import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { interruptionOf } from '../../../services/cli/interruption.ts';

const rig = () => {
  const exits: number[] = [];
  const said: string[] = [];
  const own = Object.assign(new EventEmitter(), {
    exitCode: undefined as number | undefined,
    exit: (code: number) => void exits.push(code),
  });
  return { own, exits, said, interrupted: interruptionOf(own, (line) => said.push(line)) };
};

test('the first signal asks a command to stop, the second ends it; one that never asked keeps what Node does', () => {
  const { own, exits, interrupted } = rig();
  expect(own.eventNames()).toEqual([]);
  const signal = interrupted();
  expect(interrupted()).toBe(signal);
  own.emit('SIGTERM');
  expect([signal.aborted, exits, own.exitCode]).toEqual([true, [], undefined]);
  own.emit('SIGINT');
  expect(exits).toEqual([130]);
});

test('F24: an error that nobody caught is told and drains the command, which ends with 1; a second one ends it at once', () => {
  const { own, exits, said, interrupted } = rig();
  const signal = interrupted();
  own.emit('uncaughtException', new Error('a bad day'));
  expect([signal.aborted, exits, own.exitCode]).toEqual([true, [], 1]);
  expect(said).toEqual([expect.stringContaining('Error: a bad day')]);
  own.emit('uncaughtException', 'again');
  expect(exits).toEqual([1]);
});
