import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { fakeTools } from '../../../support/fake-tools.ts';
import { post, rig } from '../rig.ts';
import { outcomeOf } from '../script.ts';

const workspace = mkdtempSync(join(tmpdir(), 'natter-prompt-'));
afterAll(() => rmSync(workspace, { recursive: true }));

test('all steps of an attempt have the same system prompt; what changes in it counts from the next turn on (A11/124)', async () => {
  const systems: string[] = [];
  writeFileSync(join(workspace, 'AGENTS.md'), 'Be brief.');
  const made = rig({
    tools: () => fakeTools({ name: 'note' }),
    settings: { agent: { workspace } },
    model: () => ({
      name: 'scribe',
      windowTokens: 100_000,
      step: async ({ system, step }) => {
        systems.push(system);
        writeFileSync(join(workspace, 'AGENTS.md'), `Be brief, said in step ${step}.`);
        return outcomeOf(step === 1 ? ['note'] : 'yes');
      },
    }),
  });
  const say = async (id: string, turns: number): Promise<void> => {
    await made.take(post('hello', id));
    await vi.waitFor(async () => {
      await made.clock.pass(10);
      expect(made.events().filter(({ type }) => type === 'turn_completed')).toHaveLength(turns);
    });
  };
  await say('a', 1);
  await say('b', 2);
  expect(systems.map((system) => /Be brief.*/.exec(system)?.[0])).toEqual([
    ...['Be brief.', 'Be brief.'],
    ...['Be brief, said in step 2.', 'Be brief, said in step 2.'],
  ]);
});
