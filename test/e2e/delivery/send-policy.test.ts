import { afterEach, expect, test } from 'vitest';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { assistantMessage, freshKey, keyOf } from '../../support/domain/commits.ts';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
afterEach(() => rig.close());

const group = keyOf('agent:main:discord:group:7');
const topic = keyOf('agent:main:discord:group:7:topic:9');
const cron = keyOf('agent:main:cron:nightly');
const to = (channel: string) => ({ channel, to: 'ann' });
const reply = (text: string, channel: string, sendPolicy?: 'allow' | 'deny'): SessionEvent =>
  ({ ...assistantMessage(text), deliverTo: to(channel), ...(sendPolicy && { sendPolicy }) }) as SessionEvent;
const notice = (text: string, channel: string): SessionEvent => ({
  type: 'notice',
  v: 1,
  notice: { code: 'send_policy', text, deliverTo: to(channel) },
});
const failed = (channel: string): SessionEvent => ({
  type: 'turn_failed',
  v: 1,
  turn: { id: 't1', attempt: 1 },
  code: 'model_error',
  message: 'out of order',
  deliverTo: to(channel),
});
const denied = { channel: 'discord', chatType: 'group' };
const rules = (...matches: object[]) => ({ sendPolicy: { rules: matches.map((match) => ({ action: 'deny', match })) } });

/** Sends each in turn, then one message that nothing denies; what came through by then is all that comes. */
const sent = async (session: object, ...said: [SessionKey, SessionEvent][]) => {
  rig = await openRig();
  await rig.start('one', { session });
  const ids: string[] = [];
  for (const [key, event] of said) ids.push(await rig.record(key, event));
  ids.push(await rig.record(freshKey(), reply('end', 'chat', 'allow')));
  const last = () => ids.map((id) => rig.records.findLast(({ outboundId }) => outboundId === id));
  await rig.until(() => expect(last().every((record) => /delivered|suppressed/.test(record?.state ?? ''))).toBe(true));
  return {
    texts: rig.farSide.received.map(({ text }) => text).filter((text) => text !== 'end'),
    custody: last()
      .slice(0, -1)
      .map((record) => `${record?.state}${record?.state === 'suppressed' ? `: ${record.detail}` : ''}`),
  };
};
const byRule = (index: number) => `suppressed: denied by session.sendPolicy.rules[${index}]`;

test('A9/93, 98: discord groups are denied: replies, failures and notices, also in their threads; the rule is on record', async () => {
  const { texts, custody } = await sent(
    rules(denied),
    [group, reply('hello', 'discord')],
    [topic, failed('discord')],
    [keyOf('agent:main:discord:group:8'), notice('status', 'discord')],
    [keyOf('agent:main:main'), reply('direct', 'discord')],
    [keyOf('agent:main:chat:group:7'), reply('elsewhere', 'chat')],
  );
  expect(custody).toEqual([byRule(0), byRule(0), byRule(0), 'delivered', 'delivered']);
  expect(texts.sort()).toEqual(['direct', 'elsewhere']);
});

test('A9/93: what cron jobs say is denied by keyPrefix "cron:"', async () => {
  const { texts, custody } = await sent(
    rules({ channel: 'slack' }, { keyPrefix: 'cron:' }),
    [cron, reply('nightly report', 'chat')],
    [keyOf('agent:main:main'), reply('hello', 'chat')],
  );
  expect(custody).toEqual([byRule(1), 'delivered']);
  expect(texts).toEqual(['hello']);
});

test('A9/94, 96: the word of the session at the time of the reply decides, and the answers to /send off and /send on come', async () => {
  const { texts, custody } = await sent(
    {},
    [freshKey(), notice('Sending is off.', 'chat')],
    [freshKey(), reply('unheard', 'chat', 'deny')],
    [freshKey(), notice('Sending is on.', 'chat')],
    [freshKey(), reply('heard', 'chat', 'allow')],
  );
  expect(custody).toEqual(['delivered', 'suppressed: denied by override', 'delivered', 'delivered']);
  expect(texts).toEqual(['Sending is off.', 'Sending is on.', 'heard']);
});

test('A9/96: the session allows what a rule denies', async () => {
  const { texts } = await sent(rules(denied), [group, reply('allowed', 'discord', 'allow')]);
  expect(texts).toEqual(['allowed']);
});

test('A6/78–79: a marker next to text is taken out, a reply of nothing else is suppressed and on record', async () => {
  const { texts, custody } = await sent(
    {},
    [freshKey(), reply('Sure.\n<NO_REPLY>', 'chat')],
    [freshKey(), reply('<EMPTY_RESPONSE>\n', 'chat')],
  );
  expect(custody).toEqual(['delivered', 'suppressed: there is nothing to say']);
  expect(texts).toEqual(['Sure.']);
});

test('A9/98, A14/140: a changed policy counts without a restart', async () => {
  rig = await openRig();
  const session: Record<string, unknown> = {};
  await rig.start('one', { session });
  const before = await rig.record(group, reply('sent', 'discord'));
  await rig.until(() => expect(rig.states(before)).toContain('delivered 1'));
  Object.assign(session, rules(denied));
  const after = await rig.record(topic, reply('not sent', 'discord'));
  await rig.until(() => expect(rig.states(after)).toEqual(['suppressed 0']));
});
