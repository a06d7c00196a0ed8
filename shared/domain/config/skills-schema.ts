import { z } from 'zod';
import { environmentProblem } from '../../kit/process/environment.ts';

/** The key itself, or the name of the environment variable that holds it. */
const apiKey = z.union([z.string().min(1), z.strictObject({ env: z.string().min(1) })]).meta({ secret: true });

/** Environment variables for programs. Variables that change which code a program runs are refused (A15/162, I12). */
const programEnv = z.record(z.string(), z.string().meta({ secret: true })).superRefine((variables, context) => {
  for (const name of Object.keys(variables)) {
    const problem = environmentProblem(name);
    if (problem !== null) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
});

/** Where skills come from and what each of them gets (A15/142–174). */
export const skillsConfig = z.strictObject({
  load: z
    .strictObject({
      /** Folders with skills, with the lowest precedence (A15/145). */
      extraDirs: z.array(z.string().min(1)).max(32).default([]),
      /** Reload changed skills; they take effect with the next turn (A15/165–166). */
      watch: z.boolean().default(true),
      watchDebounceMs: z.int().min(0).max(60_000).default(250),
    })
    .prefault({}),
  /** Folder of the skills shared by all agents on this machine. Default: `skills` in the data directory (A15/143). */
  managedDir: z.string().min(1).optional(),
  /** The bundled skills to load. Default: all (A15/161). */
  allowBundled: z.array(z.string().min(1)).optional(),
  /** By the skill's name, or by its own `skillKey` (A15/160). */
  entries: z
    .record(
      z.string().min(1),
      z.strictObject({
        enabled: z.boolean().default(true),
        apiKey: apiKey.optional(),
        env: programEnv.default({}),
        config: z.record(z.string(), z.unknown()).default({}),
        /** The required digest: a version with another digest is not loaded (A15/173). */
        digest: z
          .string()
          .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal')
          .optional(),
      }),
    )
    .default({}),
  /** Plugin folders, each with a manifest `natter.plugin.json`, and the configuration of each plugin (A15/163). */
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
  /** The token for the registry, if it requires one. The file holds only the name of the environment variable. */
  registryToken: z.strictObject({ env: z.string().min(1) }).optional(),
});
