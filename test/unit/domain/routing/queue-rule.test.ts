import { expect, test } from 'vitest';
import { queueRuleOf } from '../../../../shared/domain/routing/queue-rule.ts';
import { config, routed } from './support.ts';

const owner = { id: '1' };
const queue = { mode: 'collect', limit: 5, byChannel: { irc: { mode: 'steer', debounceMs: 500 }, api: { limit: 0 } } };

test.each<[string, object, string | undefined, object]>([
  ['B6: what is usual', {}, 'telegram', { mode: 'followup', limit: 20 }],
  ['B6: for all channels', { queue }, 'telegram', { mode: 'collect', limit: 5 }],
  ['B6: where no channel is known', { queue }, undefined, { mode: 'collect', limit: 5 }],
  ['B6: what a channel says of its own; the rest is as for all', { queue }, 'irc', { mode: 'steer', limit: 5, debounceMs: 500 }],
  ['B6: a channel without a queue', { queue }, 'api', { mode: 'collect', limit: 0 }],
  ['B6: a channel by the name of what every object has', { queue }, 'constructor', { mode: 'collect', limit: 5 }],
])('%s', (_, session, channel, expected) => expect(queueRuleOf(config({ session }).session, channel)).toEqual(expected));

test.each([
  [
    'B6: a message that asks for a turn brings the rule of its channel',
    { mentioned: true, sender: owner },
    { mode: 'collect', limit: 5 },
  ],
  ['B6: of another channel', { mentioned: true, channel: 'irc' }, { mode: 'steer', limit: 5, debounceMs: 500, shared: true }],
  ['B28: one that is only remembered, since the session may answer it', {}, { mode: 'collect', limit: 5, shared: true }],
  ['B6: a text that sets the mode is no message', { mentioned: true, sender: owner, text: '/queue interrupt' }, undefined],
])('%s', (_, change, expected) => {
  const { data } = routed(change, { session: { queue }, agent: { owners: ['telegram:1'] } });
  expect('queue' in data ? data.queue : undefined).toEqual(expected);
});

const direct = { conversation: { id: '42', kind: 'direct' } } as const;
test.each([
  ['in a group', { mentioned: true }, 'main', true],
  ['in the main session', direct, 'main', true],
  ['in a session that a hook chose', { ...direct, sessionKey: 'group:-1' }, 'per-peer', true],
  ['in a direct chat of their own', direct, 'per-peer', undefined],
  ['unless it is the owner', { mentioned: true, sender: owner }, 'main', undefined],
] as const)('D7: somebody shares the queue with others %s', (_, change, dmScope, shared) => {
  const { data } = routed(change, { session: { dmScope }, agent: { owners: ['telegram:1'] } });
  expect('queue' in data ? data.queue : undefined).toEqual({ mode: 'followup', limit: 20, ...(shared && { shared }) });
});
