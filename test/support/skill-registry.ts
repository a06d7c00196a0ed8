import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fingerprint } from '../../services/cli/skills-install/bundle.ts';
import { type Entry, zipOf } from './archives.ts';

/** A registry of skills on this machine that speaks as much of ClawHub's protocol as Natter asks for. */
export interface ListedSkill {
  /** Files of each version, the latest last. */
  readonly versions: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly moderation?: object;
  readonly summary?: string;
}
export interface RegistryServer {
  readonly url: string;
  readonly skills: Map<string, ListedSkill>;
  /** What is answered instead, by the path. */
  readonly instead: Map<string, (response: ServerResponse, request: IncomingMessage) => void>;
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[];
  readonly published: { readonly payload: Record<string, unknown>; readonly files: Record<string, string> }[];
  close(): Promise<void>;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

export const startRegistry = async (): Promise<RegistryServer> => {
  const skills: RegistryServer['skills'] = new Map();
  const instead: RegistryServer['instead'] = new Map();
  const asked: RegistryServer['asked'] = [];
  const published: RegistryServer['published'] = [];

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    asked.push({ path: url.pathname + url.search, authorization: request.headers.authorization });
    const other = instead.get(url.pathname);
    if (other) return other(response, request);
    const [, , version, what, slug = url.searchParams.get('slug') ?? '', , number = ''] = url.pathname.split('/');
    if (version !== 'v1') return json(response, {}, 404);
    if (request.method === 'POST' && what === 'skills') return publish(request, response);
    if (what === 'search') return json(response, { results: found(url.searchParams.get('q') ?? '') });
    const skill = skills.get(slug);
    if (!skill) return json(response, { error: 'not found' }, 404);
    const latest = Object.keys(skill.versions).at(-1) ?? '';
    if (what === 'resolve') {
      const hash = url.searchParams.get('hash');
      const match = Object.keys(skill.versions).find((each) => fingerprintOf(skill, each) === hash);
      return json(response, { slug, match: match ? { version: match } : null, latestVersion: { version: latest } });
    }
    const wanted = url.searchParams.get('version') ?? number;
    const files = skill.versions[wanted === '' ? latest : decodeURIComponent(wanted)];
    if (files === undefined) return json(response, { error: 'not found' }, 404);
    if (what === 'download') return void response.end(zipOf(entriesOf(files, slug)));
    const list = Object.entries(files).map(([path, text]) => ({ path, size: text.length, sha256: sha256(text) }));
    if (number !== '') return json(response, { version: { version: wanted, createdAt: 1, changelog: '', files: list } });
    const { summary = `What ${slug} does.`, moderation } = skill;
    const about = { slug, displayName: slug, summary, tags: { latest }, stats: {}, createdAt: 1, updatedAt: 1 };
    json(response, {
      skill: about,
      latestVersion: { version: latest, createdAt: 1, changelog: '' },
      owner: { handle: 'ann' },
      moderation,
    });
  };

  const found = (query: string) =>
    [...skills].flatMap(([slug, { summary, versions }]) =>
      slug.includes(query)
        ? [{ score: 0.5, slug, displayName: slug, summary, version: Object.keys(versions).at(-1), updatedAt: 1 }]
        : [],
    );

  const publish = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!request.headers.authorization?.startsWith('Bearer ')) return json(response, {}, 401);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const form = await new Response(Buffer.concat(chunks), {
      headers: { 'content-type': request.headers['content-type'] ?? '' },
    }).formData();
    const payload = JSON.parse(String(form.get('payload'))) as { slug: string; version: string };
    const files: Record<string, string> = {};
    for (const file of form.getAll('files') as unknown as File[]) files[file.name] = await file.text();
    published.push({ payload, files });
    skills.set(payload.slug, { versions: { ...skills.get(payload.slug)?.versions, [payload.version]: files } });
    json(response, { ok: true, skillId: 's', versionId: 'v' });
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}`, skills, instead, asked, published, close };
};

/** As the real one does, it puts a file of its own beside those of the skill. */
const entriesOf = (files: Readonly<Record<string, string>>, slug: string): Entry[] => [
  ...Object.entries(files).map(([path, text]) => ({ path, text })),
  { path: '_meta.json', text: JSON.stringify({ slug }) },
];
const fingerprintOf = ({ versions }: ListedSkill, version: string): string =>
  fingerprint(Object.entries(versions[version] ?? {}).map(([path, text]) => ({ path, bytes: Buffer.from(text) })));
