import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { setOf } from '../../../../shared/runtime/skills/explain.ts';
import { afterwards } from '../../../support/afterwards.ts';
import { command } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, keyOf, post, rig } from '../rig.ts';

const olga: Sender = { id: 'olga', role: 'owner' };
const bob: Sender = { id: '8', role: 'participant', principal: 'bob' };
const digest = 'd'.repeat(64);
const skill = { name: 'weather', folder: '/nowhere', location: 'skills/weather/SKILL.md', digest, manifest: {} };
const skills = { ...setOf([], new Set()), section: '<available_skills>', refs: [{ name: skill.name, digest }] };

const begin = () => {
  const workspace = mkdtempSync(join(tmpdir(), 'natter-test-'));
  afterwards(() => rmSync(workspace, { recursive: true }));
  writeFileSync(join(workspace, 'AGENTS.md'), 'Be kind.');
  writeFileSync(join(workspace, 'USER.md'), 'The owner likes tea.');
  const rules = [{ tool: 'web_fetch', role: 'participant', action: 'allow' }];
  const made = rig({
    tools: () => fakeTools({ name: 'read_file' }, { name: 'web_fetch' }),
    skills: { take: async () => skills as never },
    settings: { agent: { workspace }, tools: { rules } } as never,
  });
  let asked = 0;
  const report = async (by: Sender, kind = 'context_list', key = keyOf('main')): Promise<readonly string[]> => {
    const facts = { kind, model: 'm', parts: [{ name: 'system prompt', characters: 28 }], warnings: [] };
    const data = { type: 'report', facts, notice: { code: 'context' }, by } as never;
    await made.take({ ...command('stop', `ask-${++asked}`), key, data });
    const last = made.events(key).at(-1);
    return last?.type === 'notice' ? last.notice.text.split('\n') : [];
  };
  return { made, report };
};
const namesIn = (lines: readonly string[]) => lines.flatMap((line) => /^- (.+): [\d,]+ characters/.exec(line)?.[1] ?? []);
const lineOf = (lines: readonly string[], start: string) => lines.find((line) => line.startsWith(start));

describe('A11/124, D4: /context shows what a step would be given, before there was one', () => {
  test.each(['context_list', 'context_detail'])('%s: files, tools and skills of the owner', async (kind) => {
    const { report } = begin();
    const lines = await report(olga, kind);
    expect(namesIn(lines)).toEqual(expect.arrayContaining(['system prompt', 'AGENTS.md', 'USER.md', 'skills', 'tools']));
    for (const name of ['read_file', 'web_fetch']) expect(lines.join('\n')).toContain(name);
    expect(lineOf(lines, 'Skills')).toContain('weather');
  });

  test('I12: of a stranger only what a stranger’s step has', async () => {
    const { report } = begin();
    const lines = await report(bob);
    expect(namesIn(lines)).toEqual(expect.arrayContaining(['system prompt', 'AGENTS.md', 'tools']));
    expect(namesIn(lines)).not.toContain('USER.md');
    expect(lineOf(lines, 'Tools')).toBe('Tools: web_fetch');
  });

  test('after a step what that was given', async () => {
    const { made, report } = begin();
    await made.take(post('hello', 'm1'));
    await made.clock.pass(10);
    const lines = await report(olga, 'context_list', homeKey);
    expect(namesIn(lines)).toEqual(expect.arrayContaining(['system prompt', 'AGENTS.md', 'skills', 'tools']));
    expect(lineOf(lines, 'Tools')).toBe('Tools: read_file, web_fetch');
  });
});
