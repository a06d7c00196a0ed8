import { expect, test } from 'vitest';
import { Timeline } from '../../../services/page/past/timeline.ts';
import {
  branchCounts,
  changesBetween,
  isBookkeeping,
  isCount,
  isSetting,
  plainPath,
  promptChanges,
  skillChanges,
} from '../../../services/page/time-machine/differences.ts';
import { tell } from '../../support/domain/given.ts';

test('what a fork changed is told without what every commit and every generation change', () => {
  const timeline = new Timeline();
  for (const commit of tell('append m1', 'append m2', 'fork s2 1').commits) timeline.add(commit);
  const changes = changesBetween(timeline.stateAfter(2), timeline.stateAfter(3));
  const told = changes.filter((change) => !isBookkeeping(change)).map(({ path }) => plainPath(path));
  expect(told).toContain('times it began, was reset or forked');
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

test('what the agent knew, which answers failed and how many tokens each took is compared from the common ancestor on', () => {
  const timeline = new Timeline();
  const history = ['post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1', 'fork s2 2', 'post m3', 'reply m3/1 1', 'fork s3 2'];
  for (const commit of tell(...history).commits) timeline.add(commit);
  const rows = timeline
    .forks()
    .map((fork) => branchCounts(timeline, fork).map(({ path, before, after }) => [plainPath(path), before, after]));
  expect(rows).toEqual([
    [
      ['messages that the agent knew', 3, 4],
      ['failed answers that they do not share', 1, 0],
      ['tokens that they do not share', 0, 5],
    ],
    // The answer that failed was left behind already.
    [
      ['messages that the agent knew', 4, 2],
      ['tokens that they do not share', 5, 0],
    ],
  ]);
});

const listed = (skills: string) => ({
  prompt: [{ name: 'skills', characters: 1, tokens: 1, hash: '' }],
  skills: skills
    .split(' ')
    .filter(Boolean)
    .map((skill) => ({ name: skill.replace(/\d$/, ''), digest: skill })),
});

test.each([
  ['other numbers', 'a1 b1', 'a1 b1 c1 d1', '2 → 4 skills', ['Only since then: c, d']],
  ['one that is gone', 'a1 b1', 'a1', '2 → 1 skill', ['Only left behind: b']],
  ['another version', 'a1 b1', 'a1 b2', '1 of 2 skills', ['In another version: b']],
  ['one in place of another', 'a1 b1', 'a1 c1', '1 of 2 skills', ['Only left behind: b', 'Only since then: c']],
])('skills of two branches that differ are one line, with their names on demand: %s', (_, before, after, summary, details) => {
  expect(skillChanges(listed(before), listed(after))).toEqual({ summary, details });
});

test('skills are not compared where they are the same, or where the model was not asked yet', () => {
  expect(skillChanges(listed('a1'), listed('a1'))).toBeNull();
  expect(skillChanges(listed('a1'), { prompt: [], skills: [] })).toBeNull();
});

test.each([
  ['context.skills.0.digest', true],
  ['context.settings.model', true],
  ['context.review.description', false],
])('%s is a setting: %s', (path, isOne) => {
  expect(isSetting({ path })).toBe(isOne);
});

test.each([
  ['context.usage.contextTokens', 'usage, context tokens'],
  ['context.turn.calls.0.status', 'answer under way, calls, number 1, status'],
])('the path %s is told as: %s', (path, words) => {
  expect(plainPath(path)).toBe(words);
});

const prompt = (parts: string) => ({
  prompt: parts
    .split(' ')
    .filter(Boolean)
    .map((part) => ({ name: part.split('=')[0] ?? '', characters: Number(part.split('=')[1]) })),
});

test.each([
  ['a memory came to them', 'AGENTS.md=10', 'AGENTS.md=10 memory=285', [['instructions, memory', undefined, '285 characters']]],
  [
    'a file is longer, one is gone',
    'A.md=1 B.md=2',
    'A.md=3',
    [
      ['instructions, A.md', '1 character', '3 characters'],
      ['instructions, B.md', '2 characters', undefined],
    ],
  ],
  ['they were read first', '', 'A.md=1 memory=2', [['instructions', undefined, '2 parts, 3 characters']]],
  ['they are the same', 'A.md=1', 'A.md=1', []],
  ['they are read again after a reset', 'A.md=1', '', []],
] as const)('what changed in the instructions: %s', (_, before, after, expected) => {
  const changes = promptChanges(prompt(before), prompt(after));
  expect(changes.map((change) => [plainPath(change.path), change.before, change.after])).toEqual(expected);
});
