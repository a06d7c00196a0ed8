import { describe, expect, test } from 'vitest';
import { type Config, configSchema } from '../../../../shared/domain/config/schema.ts';
import { type Sending, sendDecision } from '../../../../shared/domain/send-policy/send-policy.ts';
import { keyOf } from '../../../support/domain/commits.ts';

const policyOf = (sendPolicy: object): Config['session']['sendPolicy'] =>
  configSchema.parse({ session: { sendPolicy } }).session.sendPolicy;
const decide = (sendPolicy: object, key: string, more: Partial<Sending> = {}): string => {
  const { action, rule } = sendDecision(policyOf(sendPolicy), { key: keyOf(key), ...more });
  return `${action} by ${rule.replace('session.sendPolicy.', '')}`;
};
const deny = (...matches: object[]) => ({ rules: matches.map((match) => ({ action: 'deny', match })) });

const group = 'agent:main:discord:group:7';
const channel = 'agent:main:discord:channel:7';
const thread = 'agent:main:discord:group:7:topic:9';
const main = 'agent:main:main';
const cron = 'agent:main:cron:nightly';

describe('send policy', () => {
  test.each<[string, object, string, string]>([
    ['A9/91: nothing configured allows', {}, group, 'allow by default'],
    ['A9/91: the default decides where no rule matches', { default: 'deny' }, group, 'deny by default'],
    [
      'A9/91: of the rules that match one that denies wins, wherever it stands',
      { rules: [{ action: 'allow', match: { channel: 'discord' } }, ...deny({}).rules] },
      group,
      'deny by rules[1]',
    ],
    [
      'A9/91: a rule that allows is an exception from a default of deny',
      { rules: [{ action: 'allow', match: { channel: 'discord' } }], default: 'deny' },
      group,
      'allow by rules[0]',
    ],
    ['A9/91: a rule that names nothing matches everything', deny({}), main, 'deny by rules[0]'],
    ['A9/92: channel', deny({ channel: 'discord' }), group, 'deny by rules[0]'],
    ['A9/92: another channel', deny({ channel: 'slack' }), group, 'allow by default'],
    ['A9/92: a channel has no case', deny({ channel: 'Discord' }), group, 'deny by rules[0]'],
    ['A9/92, C5: surface is the channel', deny({ surface: 'discord' }), group, 'deny by rules[0]'],
    ['A9/92: chatType group', deny({ chatType: 'group' }), group, 'deny by rules[0]'],
    ['A9/92: a thread in a group is in the group', deny({ chatType: 'group' }), thread, 'deny by rules[0]'],
    ['A9/92: chatType thread', deny({ chatType: 'thread' }), thread, 'deny by rules[0]'],
    ['A9/92: a group is no thread', deny({ chatType: 'thread' }), group, 'allow by default'],
    ['A9/92: chatType channel', deny({ chatType: 'channel' }), channel, 'deny by rules[0]'],
    ['A9/92: a channel is no group', deny({ chatType: 'group' }), channel, 'allow by default'],
    ['A9/92: chatType direct', deny({ chatType: 'direct' }), main, 'deny by rules[0]'],
    ['A9/92: a group is not direct', deny({ chatType: 'direct' }), group, 'allow by default'],
    ['A9/92: all that is named must match', deny({ channel: 'discord', chatType: 'direct' }), group, 'allow by default'],
    ['A9/92: keyPrefix of the stored key', deny({ keyPrefix: 'agent:main:cron:' }), cron, 'deny by rules[0]'],
    ['A9/92: keyPrefix is byte-exact', deny({ keyPrefix: 'Cron:' }), cron, 'allow by default'],
    ['A9/92: keyPrefix is a beginning', deny({ keyPrefix: 'nightly' }), cron, 'allow by default'],
    ['A9/93: deny discord groups', deny({ channel: 'discord', chatType: 'group' }), group, 'deny by rules[0]'],
    ['A9/93: and no others', deny({ channel: 'discord', chatType: 'group' }), main, 'allow by default'],
    ['A9/93: deny cron', deny({ keyPrefix: 'cron:' }), cron, 'deny by rules[0]'],
    ['A9/93: of every agent', deny({ keyPrefix: 'cron:' }), 'agent:work:cron:nightly', 'deny by rules[0]'],
    ['A9/93: the rule is named by its place', deny({ channel: 'slack' }, { keyPrefix: 'cron:' }), cron, 'deny by rules[1]'],
    ['B12: rawKeyPrefix is of the stored key only', deny({ rawKeyPrefix: 'cron:' }), cron, 'allow by default'],
    ['B12: rawKeyPrefix', deny({ rawKeyPrefix: 'agent:main:cron:' }), cron, 'deny by rules[0]'],
    ['B12: rawKeyPrefix of one agent', deny({ rawKeyPrefix: 'agent:main:' }), 'agent:work:main', 'allow by default'],
  ])('%s', (_, policy, key, expected) => expect(decide(policy, key)).toBe(expected));

  test.each<[string, object, string, Partial<Sending>, string]>([
    ['A9/96: the session denies', {}, main, { override: 'deny' }, 'deny by override'],
    ['A9/96: the session allows what a rule denies', deny({}), main, { override: 'allow' }, 'allow by override'],
    ['A9/96: unset means as configured', deny({}), main, { override: undefined }, 'deny by rules[0]'],
    [
      'A9/99: the main session goes by the channel used',
      deny({ channel: 'discord' }),
      main,
      { channel: 'discord' },
      'deny by rules[0]',
    ],
    ['A9/99: the channel used counts', deny({ channel: 'discord' }), group, { channel: 'terminal' }, 'allow by default'],
  ])('%s', (_, policy, key, more, expected) => expect(decide(policy, key, more)).toBe(expected));
});
