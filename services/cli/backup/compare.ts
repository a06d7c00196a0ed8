import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { toNatterError } from '../../../shared/adapters/nats/client/broker-errors.ts';
import { readBatch } from '../../../shared/adapters/nats/client/direct-read.ts';
import { ReplyInbox } from '../../../shared/adapters/nats/client/reply-inbox.ts';
import type { StoredMessage } from '../../../shared/adapters/streams/stored-message.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { digestOf } from '../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { streamNames } from '../../../shared/wire/topology.ts';
import { LogCheck } from './log-check.ts';
import type { LogEntry, Manifest } from './manifest.ts';
import { messagesIn } from './stream-file.ts';

export interface Comparison {
  readonly log: LogEntry;
  /** What is wrong; empty if the broker has all of the backup, and no break that the backup has not. */
  readonly problems: readonly string[];
}

const batchMessages = 256;
const mostProblems = 100;

/**
 * Compares a broker with a backup: the sequences of every stream, each commit of the log, and the chain of every session, also in what came
 * after the backup. A commit may be missing if its session was erased. Memory grows with the number of sessions.
 */
export const compareWithBackup = async (
  connection: NatsConnection,
  config: Pick<Config, 'nats'>,
  folder: string,
  manifest: Manifest,
): Promise<Comparison> => {
  const { requestTimeoutMs: timeout } = config.nats;
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout });
  const problems = await sequenceProblems(manager, manifest);
  const inbox = new ReplyInbox(connection);
  const { events } = streamNames(manifest.prefix);
  const subjects = subjectsUnder(manifest.prefix);
  const check = new LogCheck(subjects);
  const erased = new Set<string>();
  /** Per session: the first commit of the backup that the broker does not have. */
  const missing = new Map<string, number>();

  async function* stored(): AsyncGenerator<StoredMessage> {
    for (let after = 0, more = true; more; ) {
      const batch = await readBatch(inbox, { stream: events, after, count: batchMessages, timeoutMs: timeout });
      yield* batch.messages;
      after = batch.messages.at(-1)?.seq ?? after;
      more = batch.more;
    }
  }
  const log = stored();
  const next = async (): Promise<StoredMessage | null> => {
    const { done, value } = await log.next();
    if (done) return null;
    const commit = check.take(value);
    if (commit !== null && isErasure(commit)) erased.add(commit.key);
    return value;
  };
  try {
    let current = await next();
    for await (const batch of messagesIn(folder, { file: `${events}.nats` }))
      for (const { name, seq, payload } of batch) {
        while (current !== null && current.seq < seq) current = await next();
        const same = current?.seq === seq && digestOf(current.data) === digestOf(payload);
        const key = subjects.keyOfEvent(name);
        if (!same && !missing.has(key)) missing.set(key, seq);
      }
    while (current !== null) current = await next();
  } catch (error) {
    throw toNatterError(error, `read ${events}`);
  }
  for (const [key, seq] of missing)
    if (!erased.has(key)) problems.push(`commit ${seq} of ${key} is not in the log as it was backed up`);
  const found = check.result();
  const known = new Set(manifest.log.breaks);
  problems.push(...found.breaks.filter((each) => !known.has(each)));
  return { log: found, problems: problems.slice(0, mostProblems) };
};

/** Sequences only rise: a stream that ends before the backup has lost something. */
const sequenceProblems = async (manager: JetStreamManager, { streams }: Manifest): Promise<string[]> => {
  const problems: string[] = [];
  for (const { name, lastSeq } of streams) {
    try {
      const { state } = await manager.streams.info(name);
      if (state.last_seq < lastSeq) problems.push(`${name} ends at ${state.last_seq}, the backup at ${lastSeq}`);
    } catch (error) {
      problems.push(toNatterError(error, `describe ${name}`).message);
    }
  }
  return problems;
};
