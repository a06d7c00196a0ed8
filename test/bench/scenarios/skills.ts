import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { Candidate } from '../../../shared/domain/skills/skill.ts';
import { eligibleSet, explain } from '../../../shared/runtime/skills/explain.ts';
import { machineFacts } from '../../../shared/runtime/skills/facts.ts';
import { rememberingGate } from '../../../shared/runtime/skills/judge.ts';
import { loadSkills } from '../../../shared/runtime/skills/load.ts';
import type { Row } from '../table.ts';

const count = 1_000;

/** As skills are: a description of two lines, half of them with metadata, a third with a script. */
const write = (folder: string, number: number, more = ''): void => {
  const ours = `metadata: {"natter": {"emoji": "x", "os": ["linux", "darwin"], "requires": {"bins": ["git", "tool-${number}"], "env": ["KEY_${number}"]}, "primaryEnv": "KEY_${number}"}}\n`;
  const head = `name: skill-${number}\ndescription: Does the task number ${number} with care, and tells what came of it. Use when somebody asks for task ${number}.\nhomepage: https://example.org/${number}\n`;
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  writeFileSync(
    join(folder, 'SKILL.md'),
    `---\n${head}${number % 2 === 0 ? ours : ''}---\n${'Do one thing after the other.\n'.repeat(100)}${more}`,
  );
  if (number % 3 === 0) writeFileSync(join(folder, 'scripts', 'run.sh'), `echo ${number}\n`.repeat(50));
};

/** Loading and gating many skills: all of them, and after one has changed. The first reading compiles the code too. */
export const skills = async (): Promise<Row[]> => {
  const root = mkdtempSync(join(tmpdir(), 'natter-bench-skills-'));
  try {
    for (let number = 0; number < count; number++) write(join(root, `skill-${number}`), number);
    const config = configSchema.parse({ agent: { workspace: root } });
    const roots = [{ source: 'extra', path: root }] as const;
    let known: readonly Candidate[] = [];
    const facts = machineFacts(config, process.env);
    const judge = rememberingGate();
    const measured = async (changed?: ReadonlySet<string>): Promise<number> => {
      const began = performance.now();
      known = await loadSkills({ roots, known, ...(changed && { changed }) });
      eligibleSet(explain(known, facts(), judge), new Set());
      return performance.now() - began;
    };
    const coldMs = await measured();
    const times: number[] = [];
    for (let round = 0; round < 21; round++) {
      write(join(root, 'skill-500'), 500, `Round ${round}.\n`);
      times.push(await measured(new Set([join(root, 'skill-500')])));
    }
    const oneMs = times.sort((one, other) => one - other)[10] ?? 0;
    const againMs = await measured();
    return [
      { what: `${count} skills, loaded and gated, in a new process`, value: coldMs, unit: 'ms', goal: 'under 300 ms' },
      {
        what: 'the same after one of them has changed, watched',
        value: oneMs,
        unit: 'ms',
        goal: 'under 10 ms',
        note: 'median of 21',
      },
      { what: 'the same where any may have changed, and none has', value: againMs, unit: 'ms' },
    ];
  } finally {
    rmSync(root, { recursive: true });
  }
};
