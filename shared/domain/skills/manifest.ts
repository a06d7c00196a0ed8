import JSON5 from 'json5';
import { z } from 'zod';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';

/** A skill's front matter (A15/146–159). Unknown keys are ignored; an invalid value is refused with the name of its field. */

/** The keys of `metadata` that we read: ours, else one of the older names. */
const owners = ['natter', 'openclaw', 'clawdbot', 'moltbot', 'milaidy'] as const;

const flag = z.union(
  [z.boolean(), z.enum(['true', 'yes']).transform(() => true), z.enum(['false', 'no']).transform(() => false)],
  'use true or false',
);
const word = z.string().trim().min(1).max(256);
/** One value or a list. */
const words = z.union([word.transform((one) => [one]), z.array(word).max(64)], 'use a list of strings').default([]);
const url = z.string().max(2_048);

const installKinds = ['brew', 'node', 'go', 'uv', 'download'] as const;
/** How to install a program that the skill needs (A15/169–170). */
const installSpec = z.object({
  id: word.optional(),
  kind: z.enum(installKinds),
  label: word.optional(),
  bins: words,
  os: words,
  formula: word.optional(),
  package: word.optional(),
  module: word.optional(),
  url: url.optional(),
  archive: word.optional(),
  extract: flag.optional(),
  stripComponents: z.int().min(0).max(10).optional(),
  targetDir: word.optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be a SHA-256 in hexadecimal')
    .optional(),
});
export type InstallSpec = z.infer<typeof installSpec>;

const ours = z.object({
  always: flag.default(false),
  os: words,
  requires: z.object({ bins: words, anyBins: words, env: words, config: words }).prefault({}),
  primaryEnv: word.optional(),
  skillKey: word.optional(),
  emoji: z.string().max(32).optional(),
  homepage: url.optional(),
  /** Entries of an unknown kind are skipped. */
  install: z
    .array(z.unknown())
    .max(32)
    .default([])
    .transform((specs) => specs.flatMap((spec) => installSpec.safeParse(spec).data ?? [])),
});

/**
 * Line breaks and invisible characters, which must not get from a skill into a prompt or a terminal. Joiners of letters and emoji
 * are allowed.
 */
export const unseen = /\p{Cc}|\p{Zl}|\p{Zp}|(?![\u200c\u200d])\p{Cf}|[\u{e0100}-\u{e01ef}]/u;
const allUnseen = new RegExp(unseen, 'gu');
const oneLine = (text: string): string => text.replaceAll(allUnseen, ' ').replaceAll(/\s+/gu, ' ').trim();
const fields = z.object({
  name: z
    .string('is missing')
    .trim()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u, 'use 1 to 64 letters, digits, "-", "_" and "."'),
  description: z
    .string('is missing')
    .transform(oneLine)
    .pipe(z.string().min(1, 'is empty').max(limits.skillDescriptionCharacters)),
  homepage: url.optional(),
  'user-invocable': flag.default(true),
  'disable-model-invocation': flag.default(false),
  'command-dispatch': z.string().optional(),
  'command-tool': word.optional(),
  'command-arg-mode': z.literal('raw', 'use "raw"').default('raw'),
});

export interface SkillManifest extends z.infer<typeof ours> {
  readonly name: string;
  readonly description: string;
  /** People can call it with a command (A15/148). */
  readonly userInvocable: boolean;
  /** The model is told about it (A15/149). */
  readonly modelInvocable: boolean;
  /** The tool that its command calls without the model (A15/150). */
  readonly commandTool?: string;
}

/** Parses a front matter. Throws `invalid` with the field and the fix. */
export const manifestOf = (given: Readonly<Record<string, unknown>>): SkillManifest => {
  const { metadata, ...plain } = given;
  const said = checked(fields, plain, '');
  const more = checked(ours, oursIn(metadata), 'metadata.natter');
  const { name, description } = said;
  const tool = said['command-dispatch'] === 'tool' ? said['command-tool'] : undefined;
  if (said['command-dispatch'] === 'tool' && tool === undefined) throw wrong('command-tool', 'is missing; name the tool to call');
  const homepage = said.homepage ?? more.homepage;
  return {
    ...more,
    ...(homepage !== undefined && { homepage }),
    name,
    description,
    userInvocable: said['user-invocable'],
    modelInvocable: !said['disable-model-invocation'],
    ...(tool !== undefined && { commandTool: tool }),
  };
};

/** `metadata` is a map, or a string with JSON; so is the entry under our name (A15/151). */
const oursIn = (metadata: unknown): unknown => {
  const all = unwrapped(metadata, 'metadata');
  const owner = owners.find((name) => Object.hasOwn(all, name));
  return owner === undefined ? {} : unwrapped(all[owner], `metadata.${owner}`);
};

const unwrapped = (value: unknown, field: string): Record<string, unknown> => {
  const map = typeof value === 'string' ? json(value, field) : (value ?? {});
  if (typeof map !== 'object' || map === null || Array.isArray(map)) throw wrong(field, 'must be a map');
  return map as Record<string, unknown>;
};

const json = (text: string, field: string): unknown => {
  try {
    return JSON5.parse(text);
  } catch {
    throw wrong(field, 'is a string that is not valid JSON; write a map');
  }
};

const wrong = (field: string, problem: string): NatterError =>
  new NatterError('invalid', `SKILL.md: ${field}: ${problem}`, { field });

const checked = <T>(schema: z.ZodType<T, unknown>, value: unknown, place: string): T => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw wrong(
    [place, ...(issue?.path ?? [])]
      .filter((part) => part !== '')
      .map(String)
      .join('.'),
    issue?.message ?? 'is not valid',
  );
};
