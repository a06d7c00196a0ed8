import { describe, expect, test } from 'vitest';
import type { Candidate, Skill } from '../../../../shared/domain/skills/skill.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { eligibleSet, explain } from '../../../../shared/runtime/skills/explain.ts';
import { gate, type SkillFacts } from '../../../../shared/runtime/skills/gate.ts';
import { factsWith, skillOf } from './folders.ts';

const key = { entries: { a: { apiKey: 'k-1234567' } } };
const mac = { name: 'mac', os: 'darwin', runs: true };
const eligible = (node?: string) => ({ eligible: true, notes: [], ...(node !== undefined && { node }) });
const not = (...reasons: (string | RegExp)[]) => ({
  eligible: false,
  reasons: reasons.map((reason) => (typeof reason === 'string' ? reason : expect.stringMatching(reason))),
});

type Row = readonly [rule: string, skill: Skill, facts: SkillFacts, verdict: object];
const rows: readonly Row[] = [
  ['A15/146: nothing required', skillOf('a'), factsWith(), eligible()],
  ['A15/153: this os', skillOf('a', { os: ['darwin', 'linux'] }), factsWith(), eligible()],
  ['A15/153: another os', skillOf('a', { os: ['darwin'] }), factsWith(), not('It is for darwin; this is linux.')],
  ['A15/154: all programs', skillOf('a', { requires: { bins: ['git'] } }), factsWith(), eligible()],
  [
    'A15/154: one is missing',
    skillOf('a', { requires: { bins: ['git', 'memo', 'x'] } }),
    factsWith(),
    not('The program memo is not installed.', 'The program x is not installed.'),
  ],
  ['A15/155: any program', skillOf('a', { requires: { anyBins: ['memo', 'git'] } }), factsWith(), eligible()],
  [
    'A15/155: none',
    skillOf('a', { requires: { anyBins: ['x', 'y'] } }),
    factsWith(),
    not('None of the programs x, y is installed.'),
  ],
  [
    'A15/156: a variable that programs have',
    skillOf('a', { requires: { env: ['K'] } }),
    factsWith({}, { programEnv: new Set('K') }),
    eligible(),
  ],
  [
    'A15/156: one that the configuration gives',
    skillOf('a', { requires: { env: ['K'] } }),
    factsWith({ entries: { a: { env: { K: 'v' } } } }),
    eligible(),
  ],
  [
    'A15/156: one that nobody gives',
    skillOf('a', { requires: { env: ['K'] } }),
    factsWith(),
    not('The variable K is not set; set skills.entries.a.env.K.'),
  ],
  [
    "A15/156: the process's own is not the programs'",
    skillOf('a', { requires: { env: ['K'] } }),
    factsWith({}, { env: { K: 'v' } }),
    not(/K is not set/),
  ],
  ['A15/158: the key', skillOf('a', { requires: { env: ['K'] }, primaryEnv: 'K' }), factsWith(key), eligible()],
  [
    'A15/158: no key',
    skillOf('a', { requires: { env: ['K'] }, primaryEnv: 'K' }),
    factsWith(),
    not(/set skills\.entries\.a\.apiKey\.$/),
  ],
  [
    'A15/160: a key from a variable of ours',
    skillOf('a', { requires: { env: ['K'] }, primaryEnv: 'K' }),
    factsWith({ entries: { a: { apiKey: { env: 'OURS' } } } }, { env: { OURS: 'v' } }),
    eligible(),
  ],
  [
    'A15/160: a key from a variable that is not set',
    skillOf('a', { requires: { env: ['K'] }, primaryEnv: 'K' }),
    factsWith({ entries: { a: { apiKey: { env: 'OURS' } } } }),
    not(/K is not set/),
  ],
  [
    'I12: a key that would change which code runs',
    skillOf('a', { primaryEnv: 'LD_PRELOAD' }),
    factsWith(key),
    not(/LD_PRELOAD, which changes which code/),
  ],
  [
    'A15/157: a path that is truthy',
    skillOf('a', { requires: { config: ['memory.enabled', 'agent.id'] } }),
    factsWith(),
    eligible(),
  ],
  [
    'A15/157: one that is not',
    skillOf('a', { requires: { config: ['tools.exec.enabled'] } }),
    factsWith(),
    not(/no tools\.exec\.enabled; set it, or/),
  ],
  [
    'A15/157: one that is not there',
    skillOf('a', { requires: { config: ['browser.enabled'] } }),
    factsWith(),
    not(/no browser\.enabled/),
  ],
  [
    'A15/157: nothing is inherited',
    skillOf('a', { requires: { config: ['constructor.name', '__proto__'] } }),
    factsWith(),
    not(/constructor/, /__proto__/),
  ],
  [
    "A15/160: the skill's own part of the configuration",
    skillOf('a', { requires: { config: ['browser.enabled'] } }),
    factsWith({ entries: { a: { config: { browser: { enabled: true } } } } }),
    eligible(),
  ],
  [
    "A15/163: its plugin's configuration",
    skillOf('a', { requires: { config: ['voice'] } }, { source: 'plugin', plugin: 'p' }),
    factsWith({ plugins: { p: { path: '/p', config: { voice: 1 } } } }),
    eligible(),
  ],
  [
    'A15/160: switched off',
    skillOf('a'),
    factsWith({ entries: { a: { enabled: false } } }),
    not(/skills\.entries\.a\.enabled is false/),
  ],
  [
    'A15/160: by its own key',
    skillOf('a', { skillKey: 'k' }),
    factsWith({ entries: { k: { enabled: false } } }),
    not(/skills\.entries\.k\.enabled/),
  ],
  [
    'A15/173: whatever key it gives itself, it is not let in by an entry that is not about it',
    skillOf('a', { skillKey: 'k' }),
    factsWith({ entries: { k: {}, a: { digest: 'e'.repeat(64) } } }),
    not(/skills\.entries\.a\.digest/),
  ],
  [
    'A15/160: nor switched on',
    skillOf('a', { skillKey: 'k' }),
    factsWith({ entries: { k: {}, a: { enabled: false } } }),
    not(/skills\.entries\.a\.enabled is false/),
  ],
  [
    'A15/160: by the name of one with a key',
    skillOf('a', { skillKey: 'k' }),
    factsWith({ entries: { a: { enabled: false } } }),
    not(/is false/),
  ],
  ['A15/161: bundled and allowed', skillOf('a', {}, { source: 'bundled' }), factsWith({ allowBundled: ['a'] }), eligible()],
  [
    'A15/161: bundled and not allowed',
    skillOf('a', {}, { source: 'bundled' }),
    factsWith({ allowBundled: [] }),
    not(/not in skills\.allowBundled/),
  ],
  ['A15/161: the list is for bundled ones alone', skillOf('a'), factsWith({ allowBundled: [] }), eligible()],
  ['A15/173: the digest it must have', skillOf('a'), factsWith({ entries: { a: { digest: 'd'.repeat(64) } } }), eligible()],
  [
    'A15/173: another digest',
    skillOf('a'),
    factsWith({ entries: { a: { digest: 'e'.repeat(64) } } }),
    not(/This version is not allowed/),
  ],
  [
    'A15/152: always skips what it requires',
    skillOf('a', { always: true, os: ['darwin'], requires: { bins: ['x'], anyBins: ['x'], env: ['X'], config: ['x'] } }),
    factsWith(),
    eligible(),
  ],
  [
    'C18: but not that it is switched off',
    skillOf('a', { always: true }),
    factsWith({ entries: { a: { enabled: false } } }),
    not(/is false/),
  ],
  [
    'C18: nor allowBundled',
    skillOf('a', { always: true }, { source: 'bundled' }),
    factsWith({ allowBundled: [] }),
    not(/allowBundled/),
  ],
  [
    'A15/173: nor the digest',
    skillOf('a', { always: true }),
    factsWith({ entries: { a: { digest: 'e'.repeat(64) } } }),
    not(/version is not allowed/),
  ],
  ['A15/168: nobody can read it', skillOf('a'), factsWith({}, {}, { agent: {} }), not(/set agent\.workspace/)],
  [
    'A15/167: a node of that os',
    skillOf('a', { os: ['darwin'], requires: { bins: ['memo'] } }),
    factsWith({}, { nodes: [mac] }),
    eligible('mac'),
  ],
  [
    'A15/167: one that may not run programs',
    skillOf('a', { os: ['darwin'] }),
    factsWith({}, { nodes: [{ ...mac, runs: false }] }),
    not(/for darwin/),
  ],
  ['A15/167: one of another os', skillOf('a', { os: ['win32'] }), factsWith({}, { nodes: [mac] }), not(/for win32/)],
  [
    'A15/167: one without the program',
    skillOf('a', { requires: { bins: ['memo'] } }),
    factsWith({}, { nodes: [{ ...mac, bins: [] }] }),
    not(/memo is not/),
  ],
  ['A15/167: none is needed', skillOf('a', { requires: { bins: ['git'] } }), factsWith({}, { nodes: [mac] }), eligible()],
  [
    'A15/167: a node does not give what the configuration has to',
    skillOf('a', { os: ['darwin'], requires: { env: ['K'] } }),
    factsWith({}, { nodes: [mac] }),
    not('The variable K is not set; set skills.entries.a.env.K.'),
  ],
  [
    'A15/172: in a sandbox the programs have to be too',
    skillOf('a', { requires: { bins: ['git'] } }),
    factsWith({}, { sandboxed: true }),
    {
      eligible: true,
      notes: [expect.stringMatching(/\(git\) were looked for on this machine; the sandbox has to have them too/)],
    },
  ],
];

describe('gates', () => {
  test.each(rows)('%s', (_, skill, facts, verdict) => expect(gate(skill, facts)).toEqual(verdict));

  test('all reasons are told at once', () => {
    const skill = skillOf('a', { os: ['darwin'], requires: { bins: ['x'], anyBins: ['y'], env: ['Z'], config: ['w'] } });
    expect(gate(skill, factsWith({ entries: { a: { enabled: false } } }))).toMatchObject({ reasons: { length: 6 } });
  });
});

describe('what is said of all of them', () => {
  const candidate = (skill: Skill | null, more: Partial<Candidate> = {}): Candidate => ({
    ...{ source: 'workspace', folder: skill?.folder ?? '/x', stamp: '', skill },
    ...more,
  });
  test('A15/144: eligible, shadowed and by whom, not eligible and why, unusable and why', () => {
    const a = skillOf('a');
    const explained = explain(
      [
        candidate(a),
        candidate(skillOf('a'), { shadowedBy: a, source: 'managed' }),
        candidate(skillOf('b', { os: ['darwin'] })),
        candidate(null, { problem: 'SKILL.md: is missing' }),
      ],
      factsWith(),
    );
    expect(explained.map(({ status, reasons }) => [status, ...reasons])).toEqual([
      ['eligible'],
      ['shadowed', '/skills/a has the same name and comes first (workspace).'],
      ['ineligible', 'It is for darwin; this is linux.'],
      ['unusable', 'SKILL.md: is missing.'],
    ]);
  });
  test('A15/166, I11: a session has so many, the first ones', () => {
    const many = Array.from({ length: limits.sessionSkills + 2 }, (_, number) => candidate(skillOf(`s${number}`)));
    const explained = explain(many, factsWith());
    expect(explained.filter(({ status }) => status === 'eligible')).toHaveLength(limits.sessionSkills);
    expect(explained.at(-1)).toMatchObject({ status: 'ineligible', reasons: [expect.stringMatching(/already has 150 skills/)] });
    expect(eligibleSet(explained, new Set()).refs).toHaveLength(limits.sessionSkills);
  });
  test('A15/168, I11: the prompt has room for so many characters, and a small one still fits', () => {
    const long = (name: string) => candidate(skillOf(name, {}, { description: 'x'.repeat(1_980) }));
    const explained = explain(
      [...Array.from({ length: 16 }, (_, number) => long(`s${number}`)), candidate(skillOf('small'))],
      factsWith(),
    );
    expect(explained.filter(({ status }) => status !== 'eligible').map(({ reasons }) => reasons)).toEqual([
      ['The system prompt has no room for it; disable other skills.'],
    ]);
    expect(eligibleSet(explained, new Set()).section.length).toBeLessThanOrEqual(limits.skillsPromptCharacters);
  });
});
