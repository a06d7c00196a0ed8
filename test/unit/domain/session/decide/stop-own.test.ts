import { describe, test } from 'vitest';
import { given } from '../../../../support/domain/given.ts';

/** D7: whoever may not stop everything in a session stops what they themselves asked for, and nothing else. */
describe('a /stop of somebody who is not the owner', () => {
  test('D7: ends the turn that they asked for', () => {
    given('post-of m1 ann').when('stop-of ann').then('turn_aborted m1/1 /stop');
  });

  test("D7: does not end another's, nor the owner's or a program's", () => {
    given('post-of m1 bob').when('stop-of ann').thenRefused('stop_forbidden');
    given('post m1').when('stop-of ann').thenRefused('stop_forbidden');
  });

  test('D7: leaves what others wait for, which goes on at once', () => {
    given('post-of m1 ann', 'post-of m2 bob', 'post-of m3 ann')
      .when('stop-of ann')
      .then('queue_cleared m3', 'turn_aborted m1/1 /stop', 'turn_started m2/1');
  });

  test("D7: takes their own messages out of the queue behind another's turn", () => {
    given('post-of m1 bob', 'post-of m2 ann', 'post-of m3 bob').when('stop-of ann').then('queue_cleared m2');
  });

  test('D7: a turn that others have joined is none of theirs any more', () => {
    given('post-of m1 ann', 'post-of m2 ann steer').when('stop-of ann').then('turn_aborted m1/1 /stop');
    given('post-of m1 ann', 'post-of m2 bob steer').when('stop-of ann').thenRefused('stop_forbidden');
    given('post-of m1 ann', 'post-of m2 bob steer').when('stop-of bob').thenRefused('stop_forbidden');
  });

  test('D7: nor is one that answers several people together', () => {
    const collected = ['post m1', 'post-of m2 ann collect', 'post-of m3 bob collect', 'reply m1/1 1'];
    given(...collected)
      .when('stop-of ann')
      .thenRefused('stop_forbidden');
    given('post m1', 'post-of m2 ann collect', 'post-of m3 ann collect', 'reply m1/1 1')
      .when('stop-of ann')
      .then('turn_aborted m2/1 /stop');
  });

  test('D7: is told what it stopped, or why nothing', () => {
    given('post-of m1 ann').when('stop-of-told ann').then('turn_aborted m1/1 /stop', 'notice stopped');
    given('post m1').when('stop-of-told ann').then('notice stopped');
    given('append m1').when('stop-of-told ann').then('notice stopped');
  });

  test('A11/125: the owner still stops everything', () => {
    given('post-of m1 ann', 'post-of m2 bob').when('stop').then('queue_cleared m2', 'turn_aborted m1/1 stop');
  });
});
