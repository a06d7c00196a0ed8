import { expect, test } from 'vitest';
import { Timeline } from '../../../services/page/past/timeline.ts';
import { changesBetween, isBookkeeping, isCount, plainPath } from '../../../services/page/time-machine/differences.ts';
import { tell } from '../../support/domain/given.ts';

test('what a fork changed is told without what every commit and every generation change', () => {
  const timeline = new Timeline();
  for (const commit of tell('append m1', 'append m2', 'fork s2 1').commits) timeline.add(commit);
  const changes = changesBetween(timeline.stateAfter(2), timeline.stateAfter(3));
  const told = changes.filter((change) => !isBookkeeping(change)).map(({ path }) => plainPath(path));
  expect(told).toContain('beginnings, resets and forks');
  expect(told.join('\n')).not.toMatch(/epoch|skips|started|context seq|session id/);
});

test('what two branches differ in is told without the counts that a fork begins anew', () => {
  const timeline = new Timeline();
  for (const commit of tell('post m1', 'reply m1/1 1', 'fork s2 1').commits) timeline.add(commit);
  const changes = changesBetween(timeline.stateAfter(2), timeline.stateAfter(3)).map(({ path }) => path);
  const counts = changes.filter((path) => isCount({ path }));
  expect(counts).toContain('context.messages');
  expect(counts).toContain('context.completedTurns');
  expect(counts).not.toContain('context.generation');
});

test.each([
  ['context.usage.contextTokens', 'usage, context tokens'],
  ['context.turn.calls.0.status', 'answer under way, calls, number 1, status'],
])('the path %s is told as: %s', (path, words) => {
  expect(plainPath(path)).toBe(words);
});
