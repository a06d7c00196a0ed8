import { expect, test } from 'vitest';
import { channelIn, participantsText } from '../../../../services/page/sessions/who-writes.ts';

test.each([
  [[], null],
  [['ann'], 'ann'],
  [['ann', 'telegram:1001', 'irc:a:b'], 'ann, 1001 on telegram, a:b on irc'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d and 1 other'],
  [['a', 'b', 'c', 'd', 'e', 'f'], 'a, b, c, d and 2 others'],
])('participants %j are %j', (participants, text) => {
  expect(participantsText(participants)).toBe(text);
});

test.each([
  [null, {}, null],
  [{ channel: 'telegram', to: '1' }, { provider: 'irc' }, 'telegram'],
  [null, { provider: 'irc' }, 'irc'],
  [{ channel: 'session', to: 'agent:main:main' }, {}, null],
])('a session with the route %j and the origin %j is used by the channel %j', (lastRoute, origin, channel) => {
  expect(channelIn({ lastRoute, origin })).toBe(channel);
});
