import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sessionKey } from '../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { bucketNames, objectStoreNames, streamNames } from '../../../shared/wire/topology.ts';

/** What a backup consists of. The manifest is written last: a folder without it is not a backup. */

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const fileEntry = z.object({ file: z.string().regex(/^[\w.-]+$/), bytes: count, sha256 });
const streamEntry = fileEntry.extend({
  name: z.string().min(1),
  /** When the stream was made, ms: the life that sequences in it belong to. */
  createdAt: z.number(),
  firstSeq: count,
  lastSeq: count,
  messages: count,
  /** The stream's settings at the broker. */
  config: z.record(z.string(), z.unknown()),
});
const logEntry = z.object({
  commits: count,
  events: count,
  sessions: count,
  /** Digest of all commits in order, and of the last one. */
  digest: sha256,
  lastDigest: z.string().nullable(),
  /** Breaks of a session's chain, the first hundred; they were in the log already. */
  breaks: z.array(z.string()),
});
const erasure = z.object({ key: sessionKey, at: z.number() });
const content = z.object({
  format: z.literal(1),
  id: z.uuid(),
  prefix: z.string(),
  partitions: z.int(),
  natter: z.string(),
  broker: z.string(),
  startedAt: z.number(),
  endedAt: z.number(),
  streams: z.array(streamEntry),
  /** Commands and timers that were published while the backup ran. */
  published: fileEntry,
  log: logEntry,
  /** Erasures that this installation knew of. */
  erasures: z.array(erasure),
});
const signed = content.extend({ sha256 });

export type FileEntry = z.infer<typeof fileEntry>;
export type StreamEntry = z.infer<typeof streamEntry>;
export type LogEntry = z.infer<typeof logEntry>;
export type Manifest = z.infer<typeof content>;

const manifestFile = 'manifest.json';

/**
 * The streams of a backup in the order in which they are taken: what hands a message on comes before what receives it, so that a message
 * is in at least one of them (docs/operate/backup.md). Attachments are the last: they are stored before the message that refers to them.
 */
export const backedUp = (prefix: string) => {
  const { timers, inbound, commands, events, deliveries, dead, audit } = streamNames(prefix);
  const { memory, tokens, pairings } = bucketNames(prefix);
  return [
    timers,
    inbound,
    commands,
    `KV_${memory}`,
    events,
    deliveries,
    dead,
    `KV_${tokens}`,
    `KV_${pairings}`,
    audit,
    objectStoreNames(prefix).stream,
  ];
};

/** Whether backups of older versions have no such stream. */
export const isOfLaterVersions = (prefix: string, stream: string): boolean =>
  [`KV_${bucketNames(prefix).pairings}`, objectStoreNames(prefix).stream].includes(stream);

const digestOf = (manifest: Manifest): string => createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

/** Writes the manifest so that it is whole or not there. */
export const writeManifest = async (folder: string, manifest: Manifest): Promise<void> => {
  const parsed = content.parse(manifest);
  const draft = join(folder, `${manifestFile}.draft`);
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ ...parsed, sha256: digestOf(parsed) }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, manifestFile));
  const directory = await open(folder);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** Reads and checks the manifest. Throws `NatterError('invalid' | 'unsupported')`. */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const path = join(folder, manifestFile);
  if (!existsSync(path))
    throw new NatterError('invalid', `${folder} is not a backup: it has no ${manifestFile}, as one that ended early`);
  const text = await readFile(path, 'utf8');
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch (cause) {
    throw new NatterError('invalid', `${path} is damaged: it is not JSON`, { cause });
  }
  const { format } = z.object({ format: z.unknown() }).catch({ format: undefined }).parse(stored);
  if (typeof format === 'number' && format !== 1)
    throw new NatterError('unsupported', `${path} has format ${format}; this version of Natter reads format 1`);
  const { success, data } = signed.safeParse(stored);
  if (!success) throw new NatterError('invalid', `${path} is damaged: a field is missing or wrong`);
  const { sha256: expected, ...manifest } = data;
  if (digestOf(manifest) !== expected) throw new NatterError('invalid', `${path} is damaged: it has another checksum`);
  return manifest;
};
