import { setTimeout as delay } from 'node:timers/promises';
import { JetStreamApiError, type StreamConfig } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { failureOf, nobodyListens, orNatterError, toNatterError } from '../../../shared/adapters/nats/client/broker-errors.ts';
import { inboxOf } from '../../../shared/adapters/nats/client/connection.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { ArchiveState } from './archive.ts';

/** The broker's interface for whole streams: it sends a stream piece by piece, or makes one from such pieces. */

interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}
export interface Snapshot {
  readonly config: StreamConfig;
  readonly state: ArchiveState;
}

const requestMs = 30_000;
/** A cluster that has just started may take this long to know all its servers, and a server to hear that another one listens. */
const patience = { attempts: 300, pauseMs: 100 } as const;
/** The broker gives up after 5 s without an answer; a sync of a large stream may take longer. */
const silenceMs = 60_000;
const pieceBytes = 256 * 1024;

const ask = async <T extends object>(
  connection: NatsConnection,
  subject: string,
  request: unknown,
  timeout = requestMs,
): Promise<T> => answerOf(await connection.request(subject, JSON.stringify(request), { timeout }));

const answerOf = <T extends object>(answer: Msg): T => {
  const parsed = answer.json<T & { readonly error?: ApiError }>();
  if (parsed.error !== undefined) throw new JetStreamApiError(parsed.error);
  return parsed;
};

/**
 * Passes a stream on piece by piece, as it was at the moment of the call; the next piece comes when `take` is done. Resolves with its
 * settings and state. Throws `NatterError('unavailable')` when the broker stops before the end.
 */
export const takeSnapshot = async (
  connection: NatsConnection,
  stream: string,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<Snapshot> => {
  const inbox = inboxOf(connection);
  const subscription = connection.subscribe(inbox);
  const pieces = subscription[Symbol.asyncIterator]();
  try {
    const request = { deliver_subject: inbox, no_consumers: true, chunk_size: pieceBytes };
    const doing = `back up ${stream}`;
    const snapshot = await orNatterError(doing, ask<Snapshot>(connection, `$JS.API.STREAM.SNAPSHOT.${stream}`, request));
    for (;;) {
      const { done, value: piece } = await withinSilence(pieces.next(), `the broker stopped sending ${stream}`);
      if (done) throw new NatterError('unavailable', `the connection to the broker closed while it sent ${stream}`);
      if (piece.data.length === 0) {
        if ((piece.headers?.code ?? 0) >= 400)
          throw new NatterError('unavailable', `the broker could not ${doing}: ${piece.headers?.description}`);
        return snapshot;
      }
      await take(piece.data);
      piece.respond();
    }
  } finally {
    subscription.unsubscribe();
  }
};

/** Makes a stream with these settings from the pieces of an archive. Throws `NatterError`; then there may be an unfinished stream. */
export const makeFromSnapshot = async (
  connection: NatsConnection,
  { config, state }: { config: Partial<StreamConfig> & { name: string }; state: ArchiveState },
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const doing = `restore ${config.name}`;
  const api = `$JS.API.STREAM.RESTORE.${config.name}`;
  const { deliver_subject: subject } = await orNatterError(
    doing,
    patiently(
      // Servers that have just started agree on a place for the stream first.
      () => ask<{ deliver_subject: string }>(connection, api, { config, state }, silenceMs),
      (error) => failureOf(error) === 'unavailable',
    ),
  );
  try {
    for await (const piece of pieces) {
      const answer = await sent(connection, subject, piece);
      if (answer.data.length > 0) answerOf(answer);
    }
    answerOf(await sent(connection, subject, new Uint8Array()));
  } catch (error) {
    throw toNatterError(error, doing);
  }
};

const sent = (connection: Pick<NatsConnection, 'request'>, subject: string, piece: Uint8Array): Promise<Msg> =>
  patiently(() => connection.request(subject, piece, { timeout: silenceMs }), nobodyListens);

/** Repeats an attempt that certainly changed nothing. */
const patiently = async <T>(attempt: () => Promise<T>, changedNothing: (error: unknown) => boolean): Promise<T> => {
  for (let count = 1; ; count++)
    try {
      return await attempt();
    } catch (error) {
      if (!changedNothing(error) || count === patience.attempts) throw error;
      await delay(patience.pauseMs);
    }
};

const withinSilence = async <T>(work: Promise<T>, problem: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NatterError('unavailable', problem)), silenceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
