import { z } from 'zod';
import { environmentProblem } from '../../kit/process/environment.ts';

/** A key is in the file, or in an environment variable that the file names. */
const apiKey = z.union([z.string().min(1), z.strictObject({ env: z.string().min(1) })]).meta({ secret: true });

/** Variables for programs: none that changes which code they run (A15/162, I12). */
const programEnv = z.record(z.string(), z.string().meta({ secret: true })).superRefine((variables, context) => {
  for (const name of Object.keys(variables)) {
    const problem = environmentProblem(name);
    if (problem !== null) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
});

/** Which skills there are, and what they get (A15/142–174). */
export const skillsConfig = z.strictObject({
  load: z
    .strictObject({
      /** Folders with skills, of the lowest precedence (A15/145). */
      extraDirs: z.array(z.string().min(1)).max(32).default([]),
      /** Changed files count from the next turn on (A15/165–166). */
      watch: z.boolean().default(true),
      watchDebounceMs: z.int().min(0).max(60_000).default(250),
    })
    .prefault({}),
  /** Folder of the skills that all agents of this machine have. Default: `skills` in the data directory (A15/143). */
  managedDir: z.string().min(1).optional(),
  /** Of the skills that Natter ships only these. Default: all (A15/161). */
  allowBundled: z.array(z.string().min(1)).optional(),
  /** By the skill's name, or the `skillKey` it gives itself (A15/160). */
  entries: z
    .record(
      z.string().min(1),
      z.strictObject({
        enabled: z.boolean().default(true),
        apiKey: apiKey.optional(),
        env: programEnv.default({}),
        config: z.record(z.string(), z.unknown()).default({}),
        /** The digest it must have: another version is not loaded (A15/173). */
        digest: z
          .string()
          .regex(/^[0-9a-f]{64}$/, 'is a SHA-256 in hexadecimal')
          .optional(),
      }),
    )
    .default({}),
  /** Folders of plugins, each with its manifest `natter.plugin.json`, and what each is given (A15/163). */
  plugins: z
    .record(
      z.string().min(1),
      z.strictObject({
        path: z.string().min(1),
        enabled: z.boolean().default(true),
        config: z.record(z.string(), z.unknown()).default({}),
      }),
    )
    .default({}),
  install: z
    .strictObject({
      nodeManager: z.enum(['npm', 'pnpm', 'yarn', 'bun']).default('npm'),
    })
    .prefault({}),
  /** Address of a registry that speaks ClawHub's protocol (A15/164). */
  registry: z.url({ protocol: /^https?$/ }).optional(),
  /** What the registry knows us by, if it has to: only the name of the variable is in the file. */
  registryToken: z.strictObject({ env: z.string().min(1) }).optional(),
});
