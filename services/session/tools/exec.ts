import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import { checkEnvironment, programEnvironment } from '../../../shared/kit/process/environment.ts';
import { type ProgramEnd, runProgram } from '../../../shared/kit/process/program.ts';
import { secretHider } from '../../../shared/kit/scrub.ts';
import type { Tool, ToolEnd } from '../../../shared/ports/tools.ts';
import { skillEnvironment } from '../../../shared/runtime/skills/environment.ts';
import { isPinned, unchangedFiles } from '../../../shared/runtime/skills/pin.ts';
import { defineTool } from './define.ts';

export interface ExecOptions {
  readonly exec: Config['tools']['exec'];
  /** Working directory of programs. Default: a new folder for each, removed afterwards. */
  readonly workspace?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The settings of skills, with the variables that they get (A15/162). */
  readonly skills?: Config['skills']['entries'];
}

/**
 * Runs one program. Its effects are not known in advance, so each call needs an approval. Throws `invalid` for a forbidden
 * variable.
 */
export const execTool = ({ exec, workspace, env, clock, skills = {} }: ExecOptions): Tool => {
  checkEnvironment(exec.environment, 'tools.exec.environment');
  const argument = z
    .string()
    .max(limits.toolArgumentsCharacters)
    .regex(/^[^\0]*$/, 'contains a zero character; remove it');
  const place = workspace === undefined ? 'an empty folder' : 'the workspace';

  return defineTool({
    name: 'exec',
    description: `Runs one program, without a shell, in ${place}. Its output and its exit code come back. A person is asked each time.`,
    input: z.strictObject({
      command: z
        .array(argument)
        .min(1, 'is empty; name a program')
        .max(256)
        .refine(([program]) => program !== '', 'begins with an empty text; name a program')
        .describe('The program and its arguments, such as ["git", "status"]. No shell: no pipes, no "*", no variables.'),
      timeoutMs: z.int().min(100).optional().describe(`Milliseconds it may take; ${exec.timeoutMs} at most and by default.`),
    }),
    usual: 'ask',
    onceOnly: true,
    idempotent: false,
    // Leaves time to stop a program at its own limit and to return its output.
    timeoutMs: exec.timeoutMs + 3 * limits.programGraceMs,
    line: ({ command }) => `run ${quoted(command, 1_200)} in ${place}`,
    act: async ({ command, timeoutMs = exec.timeoutMs }, { scope: { skills: had = [] } }, signal) => {
      // A program gets the keys of all the session's skills and may run their files, so none of the pinned ones may have changed.
      for (const skill of had) if (isPinned(skill, skills)) unchangedFiles(skill);
      const ofSkills = skillEnvironment(had, skills, env);
      const home = await realpath(await mkdtemp(join(tmpdir(), 'natter-exec-')));
      try {
        const program = {
          command,
          cwd: workspace === undefined ? home : await realpath(workspace),
          env: { ...ofSkills, ...programEnvironment(env, exec.environment, home) },
          timeoutMs: Math.min(timeoutMs, exec.timeoutMs),
        };
        const { outcome, text } = endOf(await runProgram(program, signal, clock), program.timeoutMs);
        return { outcome, text: secretHider(Object.values(ofSkills))(text) };
      } finally {
        // A file that cannot be removed must not cost the result.
        await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
      }
    },
  });
};

const endOf = ({ code, signal, timedOut, output }: ProgramEnd, timeoutMs: number): ToolEnd => {
  const how = timedOut ? `stopped after ${timeoutMs} ms` : code === null ? `ended by ${signal}` : `exit code ${code}`;
  return { outcome: code === 0 && !timedOut ? 'ok' : 'error', text: `[${how}]\n${output}` };
};
