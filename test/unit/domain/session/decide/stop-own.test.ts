import { describe, expect, test } from 'vitest';
import { given } from '../../../../support/domain/given.ts';

/** D7: whoever may not stop everything in a session stops what they themselves asked for, and nothing else. */
describe('a /stop of somebody who is not the owner', () => {
  test('D7: ends the turn that they asked for', () => {
    given('post-of m1 ann').when('stop-of ann').then('turn_aborted m1/1 /stop');
  });

  test('D7: as does a bot on a platform, which is a stranger', () => {
    given('post-of m1 bot').when('stop-of bot').then('turn_aborted m1/1 /stop');
    given('post-of m1 bot').when('stop-of ann').thenRefused('stop_forbidden');
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

  const spawning = (person: string) => [`post-of m1 ${person}`, `call m1/1 1 sessions_spawn spawn-of:${person}`];
  const ended = ['result m1/1 m1.1.0 ok', 'reply m1/1 2'];

  test('D6, D7: ends the sub-agent runs that they asked for, while the turn runs and after it', () => {
    given(...spawning('ann'))
      .when('stop-of ann')
      .then('turn_aborted m1/1 /stop', 'runs_stopped spawned-0');
    given(...spawning('ann'), ...ended)
      .when('stop-of ann')
      .then('runs_stopped spawned-0');
    given(...spawning('ann'), ...ended, 'post m2', 'post-of m3 ann')
      .when('stop-of ann')
      .then('queue_cleared m3', 'runs_stopped spawned-0');
  });

  test("D7: does not end another's sub-agent runs, nor the owner's", () => {
    given(...spawning('bob'), ...ended)
      .when('stop-of ann')
      .thenRefused('stop_forbidden');
    given('post m1', 'call m1/1 1 sessions_spawn spawn', ...ended)
      .when('stop-of ann')
      .thenRefused('stop_forbidden');
    given('post m1', 'call m1/1 1 sessions_spawn spawn', ...ended, 'post-of m2 ann')
      .when('stop-of ann')
      .then('turn_aborted m2/1 /stop');
  });

  test('D7: the turn that begins with the result of their sub-agent run is theirs', () => {
    given(...spawning('ann'), ...ended, 'answers m2 spawned-0')
      .when('stop-of ann')
      .then('turn_aborted m2/1 /stop');
    given(...spawning('bob'), ...ended, 'answers m2 spawned-0')
      .when('stop-of ann')
      .thenRefused('stop_forbidden');
  });

  test.each<[string[], string]>([
    [['post-of m1 ann'], 'Stopped the answer.'],
    [[...spawning('ann'), 'post-of m2 ann'], 'Stopped the answer and 1 sub-agent run, and cleared 1 waiting message.'],
    [[...spawning('ann'), ...ended], 'Stopped 1 sub-agent run.'],
    [['post m1', 'post-of m2 ann'], 'Cleared 1 waiting message.'],
    [[...spawning('bob'), ...ended], 'Nothing was stopped: only the owner may stop what others started.'],
    [['append m1'], 'Nothing was running.'],
  ])('D6: after %j they are told: %s', (history, text) => {
    const { events } = given(...history).when('stop-of-told ann');
    expect(events).toContainEqual(expect.objectContaining({ notice: { code: 'stopped', text } }));
  });

  test('A11/125: the owner still stops everything', () => {
    given('post-of m1 ann', 'post-of m2 bob').when('stop').then('queue_cleared m2', 'turn_aborted m1/1 stop');
  });
});

/** A message that waits is taken back alone: what runs, and what others wait for, goes on. */
describe('a message that waits in the queue', () => {
  test('is taken out of it alone', () => {
    given('post m1', 'post m2', 'post m3').when('cancel m2').then('queue_cleared m2');
  });

  test('its turn never begins', () => {
    given('post m1', 'post m2', 'post m3', 'cancel m2')
      .when('reply m1/1 1')
      .then('model_step m1/1 1 stop', 'assistant_message m1/1', 'turn_completed m1/1', 'turn_started m3/1');
  });

  test('is not there any more once its turn has begun, is over, or was taken back', () => {
    given('post m1').when('cancel m1').thenRefused('not_queued');
    given('post m1', 'reply m1/1 1').when('cancel m1').thenRefused('not_queued');
    given('post m1', 'post m2', 'cancel m2').when('cancel m2').thenRefused('not_queued');
    given('post m1', 'post-of m2 ann steer').when('cancel m2').thenRefused('not_queued');
  });

  test('D7: is only for the owner and whoever asked for it to take back', () => {
    given('post m1', 'post-of m2 ann').when('cancel-of ann m2').then('queue_cleared m2');
    given('post m1', 'post-of m2 ann').when('cancel m2').then('queue_cleared m2');
    given('post m1', 'post-of m2 bob').when('cancel-of ann m2').thenRefused('stop_forbidden');
    given('post m1', 'post m2').when('cancel-of ann m2').thenRefused('stop_forbidden');
  });
});
