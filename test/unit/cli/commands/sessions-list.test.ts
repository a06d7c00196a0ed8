import { expect, test } from 'vitest';
import { sessionLines } from '../../../../services/cli/commands/sessions/sessions.ts';
import type { SessionRow } from '../../../../shared/client/main.ts';

const row = (more: { displayName?: string; icon?: string; description: string }): SessionRow =>
  ({
    ...{ shownKey: 'main', status: 'idle', messageCount: 2, completedTurns: 1, queuedTurns: 0, updatedAt: 0 },
    ...{ description: more.description, lastMessagePreview: 'bye', settings: { displayName: more.displayName, icon: more.icon } },
  }) as unknown as SessionRow;

test.each([
  ['what a person called it', { displayName: 'My talk', description: 'tides' }, 'My talk'],
  ['its icon before that', { displayName: 'My talk', icon: '🌊', description: '' }, '🌊 My talk'],
  ['what it is about, without a name', { description: 'tides' }, 'tides'],
])('natter sessions shows of a session %s', (_, given, about) => {
  expect(sessionLines([row(given)], 0, 100)[1]).toMatch(new RegExp(`now +${about} +bye$`));
});

test('natter sessions says of a fork that its messages are those since then', () => {
  const forked = { ...row({ description: '' }), lastReset: { at: 0, seq: 4, trigger: 'fork', rule: 'fork' } } as SessionRow;
  expect(sessionLines([forked], 0, 100)[1]).toMatch(/^main +idle +2 since fork +1 /);
});

test('natter sessions shows the whole key of a session, however long: commands take it', () => {
  const shownKey = `subagent:${'1b2c3d4e'.repeat(12)}`;
  const long = { ...row({ description: '' }), shownKey } as SessionRow;
  expect(sessionLines([long], 0, 80)[1]).toContain(`${shownKey}  idle`);
});
