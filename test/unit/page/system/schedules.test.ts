import { expect, test } from 'vitest';
import { dueNext } from '../../../../services/page/system/due.ts';
import { nextAtHour, resetRules } from '../../../../services/page/system/reset-rules.ts';
import type { PendingApproval, SessionRow } from '../../../../shared/client/main.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { dayAround, policyFor } from '../../../../shared/domain/reset/reset.ts';
import { differences } from '../../../../shared/runtime/config/reload.ts';

/** What happens by the clock, as people read it. */

const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((found, name) => (found as Record<string, unknown>)?.[name], value);
const keysOf = (session: object) => {
  const config = configSchema.parse({ session: { timeZone: 'Europe/Berlin', ...session } });
  return differences({}, { session: config.session }).flatMap((path) =>
    pathsUnder(valueAt(config, path), path).map(([each, value]) => ({
      ...{ path: each, value, origin: 'default', takesEffect: 'at_once' as const },
    })),
  );
};
const pathsUnder = (value: unknown, path: string): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, child]) => pathsUnder(child, `${path}.${name}`))
    : [[path, value]];

test.each<[session: object, words: readonly string[]]>([
  [{}, ['All sessions begin afresh every day at 04:00 (Europe/Berlin).']],
  [{ reset: { mode: 'idle' } }, ['All sessions begin afresh after an hour without a message.']],
  [
    { reset: { mode: 'daily', atHour: 5, idleMinutes: 240 } },
    ['All sessions begin afresh every day at 05:00 (Europe/Berlin), and after 4 hours without a message.'],
  ],
  [{ idleMinutes: 1 }, ['All sessions begin afresh after a minute without a message.']],
  [{ idleMinutes: 90 }, ['All sessions begin afresh after 90 minutes without a message.']],
  [
    { resetByType: { group: { mode: 'idle', idleMinutes: 120 } }, resetByChannel: { discord: { mode: 'daily', atHour: 0 } } },
    [
      'Groups and channels begin afresh after 2 hours without a message.',
      'Conversations on discord begin afresh every day at 00:00 (Europe/Berlin).',
      'All other sessions begin afresh every day at 04:00 (Europe/Berlin).',
    ],
  ],
])('the rules of %j', (session, words) => {
  expect(resetRules(keysOf(session)).map((rule) => rule.words)).toEqual(words);
});

test('they are those that the domain goes by', () => {
  const sessions = [
    {},
    { idleMinutes: 90 },
    { idleMinutes: 90, reset: { mode: 'daily' } },
    { idleMinutes: 90, reset: { mode: 'idle' } },
  ] as const;
  for (const session of sessions) {
    const { policy } = policyFor(configSchema.parse({ session }).session, { type: 'dm' });
    const [rule] = resetRules(keysOf(session));
    expect(rule?.daily?.hour).toBe(policy.atHour);
    expect(rule?.words.includes('without a message')).toBe(policy.idleMinutes !== undefined);
    expect(rule?.words.includes('90 minutes')).toBe(policy.idleMinutes === 90);
  }
});

test.each([
  ['2026-07-01T00:30:00Z', 4, 'Europe/Berlin'],
  ['2026-07-01T02:00:00Z', 4, 'Europe/Berlin'],
  ['2026-07-01T12:00:00Z', 0, 'Asia/Kathmandu'],
  // The hour is skipped, and is there twice.
  ['2026-03-28T12:00:00Z', 2, 'Europe/Berlin'],
  ['2026-10-24T12:00:00Z', 2, 'Europe/Berlin'],
])('the next time after %s that it is %i:00 in %s is that of the domain', (now, hour, zone) => {
  expect(new Date(nextAtHour(Date.parse(now), hour, zone))).toEqual(new Date(dayAround(Date.parse(now), hour, zone).until));
});

test('what is due names people and leads to its session, the soonest first', () => {
  const key = 'agent:main:telegram:group:-100';
  const row = { key, resultsUntil: 30 };
  const scheduled = { sessionKey: key, actor: 'token:api' };
  const due = dueNext({
    approvals: [{ approvalId: 'a', expiresAt: 20, sessionKey: key, action: 'exec: ls' } as PendingApproval],
    rows: [row as unknown as SessionRow],
    waiting: [{ state: 'waiting', channel: 'telegram', to: 'Ann', until: 10, detail: 'busy' }],
    messages: [
      { ...scheduled, runId: 'r', sendAt: 40, command: 'post_message', text: 'Is the build\ngreen?' },
      { ...scheduled, runId: 's', sendAt: 15, command: 'reset', text: null },
    ],
  });
  expect(due.map((each) => [each.what, each.key])).toEqual([
    ['What waits for Ann on telegram is tried again.', undefined],
    ['A chat command will be run: reset.', key],
    ['The question “exec: ls” expires, unless somebody answers it.', key],
    ['The answer ends, unless the program that it waits for gives its results.', key],
    ['The message “Is the build green?” will be sent.', key],
  ]);
});
