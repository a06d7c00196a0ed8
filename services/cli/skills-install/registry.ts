import { z } from 'zod';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import { fetchBytes, fetchFile, type WebRequest, webAddress } from './fetch.ts';
import { slugPattern, versionPattern } from './lock.ts';

/** The part of ClawHub's protocol that we use (A15/164): version 1 of its public HTTP API. Unknown fields are ignored. */

const text = z.string().max(4_000);
const slug = z.string().regex(slugPattern);
const version = z.string().regex(versionPattern);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/i);

const found = z.object({ slug, displayName: text.nullish(), summary: text.nullish(), version: version.nullish().catch(null) });
const search = z.object({
  results: z
    .array(z.unknown())
    .transform((rows) => rows.flatMap((row) => found.safeParse(row).data ?? []).slice(0, limits.registryRows)),
});
const skill = z.object({
  skill: z.object({ slug, displayName: text.nullish(), summary: text.nullish() }),
  latestVersion: z.object({ version }).nullish(),
  owner: z.object({ handle: text.nullish() }).nullish(),
  moderation: z
    .object({ isSuspicious: z.boolean().default(false), isMalwareBlocked: z.boolean().default(false), summary: text.nullish() })
    .nullish(),
});
const oneVersion = z.object({
  version: z.object({
    version,
    files: z
      .array(z.object({ path: z.string().min(1).max(1_024), sha256 }))
      .max(limits.skillFiles)
      .nullish()
      .catch(null),
  }),
});
const resolved = z.object({ match: z.object({ version }).nullable(), latestVersion: z.object({ version }).nullable() });
const published = z.object({ ok: z.literal(true) });

export type FoundSkill = z.infer<typeof found>;
export type RegistrySkill = z.infer<typeof skill>;

export interface RegistryOptions {
  /** `skills.registry` of the configuration. */
  readonly address: string;
  readonly token?: string;
  readonly signal: AbortSignal;
}
/** A file to publish with a skill. */
export interface BundleFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A client of one registry. All methods throw `NatterError`; a malformed response is `invalid`. */
export const registryAt = ({ address, token, signal }: RegistryOptions) => {
  const base = webAddress(address.endsWith('/') ? address : `${address}/`, 'skills.registry');
  const request = (path: string, query: Readonly<Record<string, string>> = {}): WebRequest => {
    const url = new URL(`api/v1/${path}`, base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url, signal, ...(token !== undefined && { token }) };
  };
  const ask = async <T>(schema: z.ZodType<T>, asked: WebRequest): Promise<T> => {
    const bytes = await fetchBytes(asked, limits.registryBytes, asked.body && limits.installMs);
    return answer(schema, bytes, asked.url.pathname);
  };
  return {
    address: base.origin + base.pathname.replace(/\/$/, ''),
    search: async (query: string, limit: number): Promise<FoundSkill[]> =>
      (await ask(search, request('search', { q: query, limit: String(limit) }))).results.slice(0, limit),
    skill: (name: string): Promise<RegistrySkill> => ask(skill, request(`skills/${checked(name)}`)),
    /** The files of a version: path to SHA-256. `null` if the registry does not list them. */
    files: async (name: string, of: string): Promise<ReadonlyMap<string, string> | null> => {
      const { files } = (await ask(oneVersion, request(`skills/${checked(name)}/versions/${encodeURIComponent(of)}`))).version;
      return files ? new Map(files.map((file) => [file.path, file.sha256.toLowerCase()])) : null;
    },
    /** Writes a version's archive to a new file. */
    download: (name: string, of: string, file: string, progress: (bytes: number, all: number | null) => void) =>
      fetchFile(request('download', { slug: checked(name), version: of }), file, limits.skillBytes, progress),
    /** The version with this fingerprint (`null` if there is none), and the latest one. */
    resolve: async (name: string, hash: string): Promise<{ match: string | null; latest: string | null }> => {
      const { match, latestVersion } = await ask(resolved, request('resolve', { slug: checked(name), hash }));
      return { match: match?.version ?? null, latest: latestVersion?.version ?? null };
    },
    publish: async (payload: object, files: readonly BundleFile[]): Promise<void> => {
      await ask(published, { ...request('skills'), body: await formOf(payload, files) });
    },
  };
};
export type Registry = ReturnType<typeof registryAt>;

const checked = (name: string): string => {
  if (slugPattern.test(name)) return name;
  throw new NatterError('invalid', `${quoted(name)} is no name of a skill in a registry; use small letters, digits and "-"`);
};

const answer = <T>(schema: z.ZodType<T>, bytes: Buffer, path: string): T => {
  const wrong = (what: string) => new NatterError('invalid', `the registry's answer to ${path} ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw wrong('is no JSON');
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw wrong(`has another shape: ${issue?.path.join('.')}: ${issue?.message}`);
};

const formOf = async (payload: object, files: readonly BundleFile[]): Promise<{ type: string; bytes: Uint8Array }> => {
  const form = new FormData();
  form.set('payload', JSON.stringify(payload));
  for (const { path, bytes } of files) form.append('files', new Blob([new Uint8Array(bytes)], { type: 'text/plain' }), path);
  const body = new Response(form);
  return { type: body.headers.get('content-type') ?? '', bytes: new Uint8Array(await body.arrayBuffer()) };
};
