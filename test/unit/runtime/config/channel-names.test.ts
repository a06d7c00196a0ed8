import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { policyFor } from '../../../../shared/domain/reset/reset.ts';
import { queueRuleOf } from '../../../../shared/domain/routing/queue-rule.ts';
import { keyOf, occasionIn } from '../../domain/routing/support.ts';

const webhook = { url: 'https://example.org/hook', secret: 's' };
/** Each place of the configuration where a channel is named. */
const places: readonly [place: string, config: (channel: string) => object][] = [
  ['session.resetByChannel', (name) => ({ session: { resetByChannel: { [name]: { mode: 'idle' } } } })],
  ['session.queue.byChannel', (name) => ({ session: { queue: { byChannel: { [name]: { mode: 'reject' } } } } })],
  ['channels', (name) => ({ channels: { [name]: { dmPolicy: 'allowlist' } } })],
  ['outlets.webhooks', (name) => ({ outlets: { webhooks: { [name]: webhook } } })],
  ['session.identityLinks', (name) => ({ session: { identityLinks: { ann: [`${name}:Ab:1`] } } })],
  ['session.sendPolicy', (name) => ({ session: { sendPolicy: { rules: [{ action: 'deny', match: { channel: name } }] } } })],
  ['its older name', (name) => ({ session: { sendPolicy: { rules: [{ action: 'deny', match: { surface: name } }] } } })],
  ['agent.owners', (name) => ({ agent: { owners: [`${name}:Ab`, 'ann'] } })],
  ['tools.rules', (name) => ({ tools: { rules: [{ tool: '*', action: 'ask', channel: name, approvers: [`${name}:Ab`] }] } })],
  [
    'gateway.tokens',
    (name) => ({
      gateway: {
        tokens: { t: { sha256: '0'.repeat(64), role: 'channel', namespace: `${name}:group`, principal: `${name}:Ab` } },
      },
    }),
  ],
];

describe('D11: names of channels in the configuration', () => {
  test.each(places)('%s: neither case nor blanks around it matter', (_, make) => {
    const plain = configSchema.parse(make('telegram'));
    for (const name of ['Telegram', ' TELEGRAM ']) expect(configSchema.parse(make(name)), name).toEqual(plain);
  });

  test.each(places.slice(0, 4))('%s: one channel named twice is refused, and so is a name with a blank in it', (_, make) => {
    const problemsOf = (config: object) => configSchema.safeParse(config).error?.issues.map(({ message }) => message);
    const twice = JSON.stringify(make('x')).replace(/"x":(\{[^}]*\})/, '"Telegram":$1,"telegram":$1');
    expect(problemsOf(JSON.parse(twice))).toEqual(['"telegram" is "Telegram" once more; keep one of them']);
    const refusal = '"tele gram" has a blank in it, and no channel has; write it as the connector does';
    expect(problemsOf(make('tele gram'))).toEqual([refusal]);
  });

  test('an id keeps its case, and one without a channel stays as it is', () => {
    const { session, agent } = configSchema.parse({
      session: { identityLinks: { ann: ['IRC:Nick', '@Ann:example.org', '+4912'] } },
      agent: { owners: [' IRC: Nick '] },
    });
    expect([session.identityLinks, agent.owners]).toEqual([{ ann: ['irc:Nick', '@Ann:example.org', '+4912'] }, ['irc:Nick']]);
  });

  test('A3/29, A3/31: an id on an allow list, however its channel is spelt', () => {
    const direct = { conversation: { id: '42', kind: 'direct' } };
    const settings = (allowFrom: string[]) => ({ channels: { ' Telegram': { dmPolicy: 'allowlist', allowFrom } } });
    expect(keyOf(direct, settings(['Telegram:42']))).toBe('agent:main:main');
    expect(keyOf(direct, settings([' 42 ']))).toBe('agent:main:main');
    expect(keyOf(direct, settings(['TELEGRAM: 43']))).toMatch(/^dropped/);
  });

  test('A4/52, B6: a key that an API caller spelt its own way has the rules of its channel', () => {
    const { session } = configSchema.parse({
      session: { resetByChannel: { IRC: { mode: 'idle' } }, queue: { byChannel: { IRC: { mode: 'reject' } } } },
    });
    expect(policyFor(session, { type: 'group', channel: 'Irc' }).rule).toBe('session.resetByChannel.irc');
    expect(queueRuleOf(session, 'Irc').mode).toBe('reject');
  });
});

describe('A4/51, D11: session.resetByType.thread', () => {
  const settings = { session: { resetByType: { thread: { mode: 'idle', idleMinutes: 7 } } } };
  const ruleOf = (conversation: object) => occasionIn({ conversation }, settings).expiry?.rule;
  test.each([
    [{ id: '42', kind: 'direct', threadId: '7' }, 'session.resetByType.thread'],
    [{ id: '-1', kind: 'group', threadId: '7' }, 'session.resetByType.thread'],
    [{ id: '42', kind: 'direct' }, 'session.reset (default)'],
    [{ id: '-1', kind: 'group' }, 'session.reset (default)'],
  ])('%j', (conversation, rule) => expect(ruleOf(conversation)).toBe(rule));
});
