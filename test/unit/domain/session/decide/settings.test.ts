import { expect, test } from 'vitest';
import { decide } from '../../../../../shared/domain/session/decide/index.ts';
import type { SettingsChange } from '../../../../../shared/domain/values/settings.ts';
import { command, given, stateAfter } from '../../../../support/domain/given.ts';

const patch = (settings: SettingsChange) => ({
  ...command('open', JSON.stringify(settings)),
  data: { type: 'patch_session', settings } as const,
});
const known = patch({ displayName: 'Ann', labels: ['a', 'b'], metadata: { one: '1', two: '2' } });

test.each<[string, SettingsChange]>([
  ['the same name', { displayName: 'Ann' }],
  ['the same labels', { labels: ['a', 'b'] }],
  ['the same pairs in another order', { metadata: { two: '2', one: '1' } }],
  ['nothing where nothing is', { description: null }],
])('%s: a change of settings that changes nothing is not recorded', (_, settings) => {
  expect(decide(patch(settings), stateAfter('open', known))).toEqual({ accept: [] });
});

test.each<[string, SettingsChange]>([
  ['the same labels in another order', { labels: ['b', 'a'] }],
  ['fewer pairs', { metadata: { one: '1' } }],
  ['no labels', { labels: null }],
  ['one of two is new', { displayName: 'Ann', pinned: true }],
])('%s: that is recorded', (_, settings) => {
  given('open', known)
    .when(patch(settings))
    .then(`settings_changed ${JSON.stringify(settings)}`);
});
