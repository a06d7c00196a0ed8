import { mkdir, readdir } from 'node:fs/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { uuidv7 } from 'uuidv7';
import { toNatterError } from '../../../shared/adapters/nats/client/broker-errors.ts';
import { incarnationOf } from '../../../shared/adapters/nats/stream-config.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { objectStoreNames, streamNames } from '../../../shared/wire/topology.ts';
import type { Entry } from './archive.ts';
import type { ListedErasure } from './erasure-list.ts';
import { LogCheck } from './log-check.ts';
import { backedUp, type Manifest, type StreamEntry, writeManifest } from './manifest.ts';
import { PublishedMessages } from './published.ts';
import { takeSnapshot } from './snapshot.ts';
import { StreamFileWriter } from './stream-file.ts';

export interface BackUpOptions {
  readonly connection: NatsConnection;
  readonly config: Pick<Config, 'prefix' | 'nats'>;
  /** Must not exist, or be empty. */
  readonly folder: string;
  /** Of Natter. */
  readonly version: string;
  readonly erasures: readonly ListedErasure[];
  now(): number;
  /** Called before each stream, which waits for it. */
  progress(stream: string): Promise<void> | void;
}

/**
 * Writes a backup of all truth into a folder, while everything runs, in bounded memory. The manifest comes last: what ends early is no
 * backup. Throws `NatterError`: `invalid` for a folder that is not empty, `unsupported` for a broker before 2.15, `unavailable`.
 */
export const backUp = async (options: BackUpOptions): Promise<Manifest> => {
  const { connection, config, folder, version, erasures, now } = options;
  const { prefix, nats } = config;
  await claim(folder);
  const startedAt = now();
  const subjects = subjectsUnder(prefix);
  const log = new LogCheck(subjects);
  const eachOf = (stream: string): ((entry: Entry) => void) | undefined =>
    stream === streamNames(prefix).events ? (entry) => void log.take(messageOf(entry)) : undefined;

  const published = await PublishedMessages.start(connection, subjects, folder);
  try {
    const streams: StreamEntry[] = [];
    const take = async (stream: string) => void streams.push(await backUpStream(options, stream, eachOf(stream)));
    const attachments = objectStoreNames(prefix).stream;
    for (const stream of backedUp(prefix)) if (stream !== attachments) await take(stream);
    const publishedFile = await published.end();
    // After the last message: a file is stored before its message is.
    await take(attachments);
    const manifest: Manifest = {
      format: 1,
      id: uuidv7(),
      prefix,
      partitions: nats.partitions,
      natter: version,
      broker: connection.info?.version ?? 'unknown',
      startedAt,
      streams,
      published: publishedFile,
      log: log.result(),
      erasures: [...erasures],
      endedAt: now(),
    };
    await writeManifest(folder, manifest);
    return manifest;
  } finally {
    await published.close();
  }
};

/** An entry of an archive as the adapters know messages. */
export const messageOf = ({ name, seq, timeNanos, payload }: Entry) => ({
  subject: name,
  seq,
  time: Number(timeNanos / 1_000_000n),
  data: payload,
});

const claim = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new NatterError('invalid', `${folder} cannot be made: ${errorMessage(cause)}; name a new folder`, {
      field: 'dir',
      cause,
    });
  });
  if ((await readdir(folder)).length > 0)
    throw new NatterError('invalid', `${folder} is not empty; name a new folder for each backup`, { field: 'dir' });
};

const backUpStream = async (
  { connection, config, folder, progress }: BackUpOptions,
  stream: string,
  each: ((entry: Entry) => void) | undefined,
): Promise<StreamEntry> => {
  await progress(stream);
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: config.nats.requestTimeoutMs });
  const found = await manager.streams.info(stream).catch((error: unknown) => {
    throw toNatterError(error, `describe ${stream}`);
  });
  const writer = await StreamFileWriter.create(folder, `${stream}.nats`, each);
  try {
    const { config: settings, state } = await takeSnapshot(connection, stream, (piece) => writer.write(piece));
    const { messages, ...file } = await writer.end();
    return {
      ...{ name: stream, createdAt: incarnationOf(found), ...file, messages },
      ...{ firstSeq: state.first_seq, lastSeq: state.last_seq, config: { ...settings } },
    };
  } finally {
    await writer.close();
  }
};
