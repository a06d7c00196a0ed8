import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Config, configSchema } from '../../shared/domain/config/schema.ts';
import { type Sending, sendDecision } from '../../shared/domain/send-policy/send-policy.ts';
import { holds } from '../support/domain/arbitraries.ts';
import { keyOf } from '../support/domain/commits.ts';

type Policy = Config['session']['sendPolicy'];

const some = <T>(...values: T[]) => fc.constantFrom<T | undefined>(undefined, ...values);
const match = fc.record({
  channel: some('discord', 'irc'),
  chatType: some('direct', 'group', 'channel', 'thread'),
  keyPrefix: some('cron:', 'agent:main:', 'discord:group:', 'main'),
  rawKeyPrefix: some('cron:', 'agent:main:cron:', 'agent:work:'),
});
const rule = fc.record({ action: fc.constantFrom('allow', 'deny'), match });
const policy = fc
  .record({ rules: fc.array(rule, { maxLength: 5 }), default: fc.constantFrom('allow', 'deny') })
  .map((sendPolicy): Policy => configSchema.parse({ session: { sendPolicy } }).session.sendPolicy);
const key = fc
  .tuple(
    fc.constantFrom('main', 'work'),
    fc.constantFrom('main', 'cron:nightly', 'hook:1', 'irc:channel:#a', 'discord:group:7', 'discord:group:7:topic:9', 'x:y:z'),
  )
  .map(([agent, rest]) => keyOf(`agent:${agent}:${rest}`));
const sending = fc.record({ key, channel: some('discord', 'irc'), override: some('allow', 'deny') }) as fc.Arbitrary<Sending>;
const cases = fc.tuple(policy, sending, rule as fc.Arbitrary<Policy['rules'][number]>);
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;
type Decide = typeof sendDecision;

/** What a decision's rule says, read back from the configuration. */
const actionOf = (rule: string, policy: Policy, { override }: Sending): string | undefined => {
  const index = /^session\.sendPolicy\.rules\[(\d+)\]$/.exec(rule)?.[1];
  if (index !== undefined) return policy.rules[Number(index)]?.action;
  return rule === 'override' ? override : rule === 'session.sendPolicy.default' ? policy.default : undefined;
};

test('A9/91–98: every decision names the rule that says so', () => {
  const explained =
    (decide: Decide) =>
    ([policy, sending]: Case) => {
      const { action, rule } = decide(policy, sending);
      expect(action).toBe(actionOf(rule, policy, sending));
    };
  holds(cases, explained(sendDecision), {
    'a denial is blamed on the default': explained((...given) => ({
      ...sendDecision(...given),
      rule: 'session.sendPolicy.default',
    })),
    'the override is not heeded': explained((policy, sending) => ({
      action: sendDecision(policy, { ...sending, override: undefined }).action,
      rule: sending.override ? 'override' : sendDecision(policy, sending).rule,
    })),
  });
});

test('A9/91: the order of the rules changes no decision, and what a rule denies no further rule allows', () => {
  const denialWins =
    (decide: Decide) =>
    ([policy, sending, more]: Case) => {
      const before = decide(policy, sending);
      expect(decide({ ...policy, rules: policy.rules.toReversed() }, sending).action).toBe(before.action);
      const longer = decide({ ...policy, rules: [more, ...policy.rules] }, sending);
      if (before.action === 'deny' && before.rule !== 'session.sendPolicy.default') expect(longer.action).toBe('deny');
      const closed = decide({ ...policy, rules: [...policy.rules, { action: 'deny', match: {} }] }, sending);
      expect(closed.action).toBe(sending.override ?? 'deny');
    };
  /** The first rule that matches decides. */
  const firstWins: Decide = (policy, sending) => {
    const index = policy.rules.findIndex((rule) => sendDecision({ ...policy, rules: [rule] }, sending).rule.endsWith('[0]'));
    return sendDecision({ ...policy, rules: policy.rules.slice(index, index + 1) }, sending);
  };
  holds(cases, denialWins(sendDecision), { 'the first rule wins': denialWins(firstWins) });
});
