import { describe, expect, test } from 'vitest';
import { given } from '../../../../support/domain/given.ts';
import { type Change, routed } from '../../routing/support.ts';

const appended = ['user_message m9'];
const begun = ['user_message m9 for a turn', 'turn_started m9/1'];

describe('a message in a group that addresses nobody (B28)', () => {
  test.each<[string, string, string[], string[]]>([
    ['where mentions are required', 'append-unaddressed m9', [], appended],
    [
      '… and the session answers always',
      'append-unaddressed m9',
      ['set activation always'],
      [begun[0] ?? '', 'turn_started command append-unaddressed m9/1'],
    ],
    ['… and the session wants mentions, too', 'append-unaddressed m9', ['set activation mention'], appended],
    ['where the agent answers always', 'post-unaddressed m9', [], begun],
    ['… and the session wants mentions', 'post-unaddressed m9', ['set activation mention'], appended],
    ['… and the session answers always, too', 'post-unaddressed m9', ['set activation always'], begun],
    ['that was never said in a group', 'append m9', ['set activation always'], appended],
    ['that addresses the agent', 'post m9', ['set activation mention'], begun],
  ])('%s', (_, asked, history, events) => {
    given('open', ...history)
      .when(asked)
      .then(...events);
  });

  test('follows the queue mode when a turn runs', () => {
    given('open', 'set activation always', 'post m1')
      .when('append-unaddressed m9')
      .then('user_message m9 for a turn', 'turn_queued command append-unaddressed m9 #1');
  });
});

describe('who addresses the agent (A6/74, C19)', () => {
  const groups = { channels: { telegram: { groups: { '*': { requireMention: false } } } }, agent: { owners: ['telegram:1'] } };
  test.each<[string, Change, Change, string, true | undefined]>([
    ['a stranger who does not', {}, {}, 'append_message', true],
    ['a stranger who does', { mentioned: true }, {}, 'post_message', undefined],
    ['a stranger where no mention is needed', {}, groups, 'post_message', true],
    ['the owner', { sender: { id: '1' } }, groups, 'post_message', undefined],
    ['in a direct chat', { conversation: { id: '42', kind: 'direct' } }, {}, 'post_message', undefined],
  ])('%s', (_, change, settings, type, unaddressed) => {
    expect(routed(change, settings).data).toMatchObject({ type, ...(unaddressed && { unaddressed }) });
    expect('unaddressed' in routed(change, settings).data).toBe(unaddressed === true);
  });
});

describe('the queue mode of a session (B6)', () => {
  const steered = ['user_message m9 for a turn', 'turn_joined m1/1 m9'];
  test.each<[string, string[], string[]]>([
    ['post-as m9 followup', ['set queueMode steer'], steered],
    ['post-as m9 steer', ['set queueMode followup'], ['user_message m9 for a turn', 'turn_queued m9 #1']],
    ['post-as m9 steer', ['set queueMode followup', 'set queueMode default'], steered],
    ['post-chosen m9 steer', ['set queueMode reject'], steered],
    ['post m9', ['set queueMode reject'], ['message_refused m9 session_busy']],
  ])('%s after %j', (asked, settings, events) => {
    given('post m1', 'continue m1/1 1', ...settings)
      .when(asked)
      .then(...events);
  });
});
