import { expect, test } from 'vitest';
import { rememberingGate } from '../../../../shared/runtime/skills/judge.ts';
import { factsWith, skillOf } from './folders.ts';

/** Facts on which the looking for programs is counted; `there` are those that can be found. */
const machine = (...there: string[]) => {
  const asked: string[] = [];
  const programs = new Set(there);
  const facts = factsWith();
  const now = () => ({
    ...facts,
    hasProgram: (name: string) => {
      asked.push(name);
      return programs.has(name);
    },
  });
  return { now, asked, programs };
};

test('A15/154, 155, 165: programs that come and go change the verdict, and nothing else is judged again', () => {
  const judge = rememberingGate();
  const { now, programs } = machine('a');
  const skill = skillOf('one', { requires: { bins: ['a'], anyBins: ['b', 'c'] } });
  const first = judge(skill, now());
  expect(first).toMatchObject({ eligible: false, reasons: ['None of the programs b, c is installed.'] });
  expect(judge(skill, now())).toBe(first);
  programs.add('c');
  const second = judge(skill, now());
  expect(second).toMatchObject({ eligible: true });
  expect(judge(skill, now())).toBe(second);
  programs.add('b');
  programs.delete('c');
  expect(judge(skill, now())).toMatchObject({ eligible: true });
  programs.delete('a');
  expect(judge(skill, now())).toMatchObject({ eligible: false, reasons: ['The program a is not installed.'] });
});

test.each([
  ['configuration', { config: factsWith({ entries: { one: { enabled: false } } }).config }, false],
  ["process's environment", { env: { OURS: 'x' } }, true],
  ["programs' environment", { programEnv: new Set(['K']) }, true],
  ['system', { os: 'darwin' }, true],
  ['nodes', { nodes: [{ name: 'mac', os: 'darwin', runs: true }] }, true],
  ['sandbox', { sandboxed: true }, true],
])('another %s: it is judged anew', (_, change, eligible) => {
  const judge = rememberingGate();
  const facts = factsWith();
  const skill = skillOf('one');
  const first = judge(skill, facts);
  const second = judge(skill, { ...facts, ...change });
  expect(second).not.toBe(first);
  expect(second.eligible).toBe(eligible);
});

test('one that was read anew is judged anew, and one without programs asks for none', () => {
  const judge = rememberingGate();
  const { now, asked } = machine();
  const first = judge(skillOf('one'), now());
  expect(judge(skillOf('one'), now())).not.toBe(first);
  expect(asked).toEqual([]);
});
