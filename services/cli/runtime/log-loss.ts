import type { WritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import type { IndexRepair } from '../../../shared/adapters/kv/index-repair.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import { type LogWitness, nothingSeen, regression } from '../../../shared/domain/session/log-witness.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import type { Cursors } from '../../../shared/ports/cursors.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { MemoryStore } from '../../../shared/ports/memory-store.ts';

/** What the log has lost, as far as anything remembers it (I13). */
export interface LogLoss {
  /** How it shows, one line for each witness. */
  readonly problems: readonly string[];
  readonly lastSeq: number;
  /** The log is what was seen up to this sequence. */
  readonly keptThrough: number;
  /** The greatest sequence that anything has seen. */
  readonly reached: number;
  /** Sessions with a newer state in the index than in the log. */
  readonly sessions: readonly SessionKey[];
}
/** Sequences that are given up beyond the last one that was seen: what one second may have written before anybody said so. */
export const unseenMargin = 10_000;

/** The digest of no commit: a witness with it agrees with no log. */
const undecided = 'undecided';

/** Who accepts the loss, and why: the audit trail keeps both. */
export interface Acceptance {
  readonly actor: string;
  readonly reason: string;
}

/** What a loss is judged and accepted with; the simulator has it in memory. */
export interface LossTools {
  readonly ports: Pick<Ports, 'audit' | 'clock' | 'events' | 'index'>;
  /** Of a process these are not written while the log went back. */
  readonly cursors: Cursors;
  readonly memory: Pick<MemoryStore, 'position' | 'reset'>;
  readonly witness: WritersWitness;
  readonly indexRepair: IndexRepair;
  /** Removes the snapshots of all sessions. Throws `NatterError('unavailable')`, as everything here. */
  dropSnapshots(): Promise<void>;
  /** Makes the log, which ends at `after`, end at `through` at least. */
  giveUpPlaces(after: number, through: number): Promise<void>;
}

/** Compares the log with everything that remembers it; `null` if it has all of that. */
export const findLoss = async (tools: LossTools): Promise<LogLoss | null> => {
  const { events, index } = tools.ports;
  const { lastSeq } = await events.info();
  const witnesses = await witnessesOf(tools);
  const compared = await Promise.all(
    [...witnesses].map(async ([name, seen]) => ({ name, seen, view: await events.view(seen.seq) })),
  );
  const problems = compared.flatMap(({ name, seen, view }) => {
    const problem = regression(seen, view);
    return problem === null ? [] : [`${name}: ${problem}`];
  });
  if (problems.length === 0) return null;
  const known = compared.filter(({ seen, view }) => seen.digest !== null && view.digest !== null);
  const isSame = ({ seen, view }: (typeof known)[number]): boolean => seen.digest === view.digest;
  const firstOther = Math.min(...known.filter((one) => !isSame(one)).map(({ seen }) => seen.seq));
  const same = known.filter((one) => isSame(one) && one.seen.seq < firstOther).map(({ seen }) => seen.seq);
  const agreed = firstOther === Number.POSITIVE_INFINITY ? lastSeq : Math.max(0, ...same);
  const keptThrough = Math.min(agreed, await lastStored(events, lastSeq));
  const view = await index.watch();
  const ahead = [...view.rows()].filter(({ seq }) => seq > keptThrough);
  await view.close();
  const reached = Math.max(...[...witnesses.values(), ...ahead].map(({ seq }) => seq));
  return { problems, lastSeq, keptThrough, reached, sessions: ahead.map(({ key }) => key) };
};

/** The sequence of the last commit that is there: a broker that cut its log off may still say that it ended later. */
const lastStored = async (events: Pick<EventLog, 'raw'>, lastSeq: number): Promise<number> => {
  // Something is stored after `known`, if anywhere; nothing is after `none`.
  let [known, none] = [0, lastSeq];
  while (known < none) {
    const middle = Math.floor((known + none) / 2);
    const { messages } = await events.raw({ after: middle, limit: 1 });
    const [next] = messages;
    if (next === undefined) none = middle;
    else known = next.seq;
  }
  return known;
};

const witnessesOf = async ({ ports: { index }, cursors, memory, witness }: LossTools): Promise<Map<string, LogWitness>> => {
  const writers = await witness.read();
  const positions = { index: await index.position(), memory: await memory.position() };
  return new Map<string, LogWitness>([
    ['the session hosts', writers],
    ...[...(await cursors.all())].map(([name, seen]) => [`the reader ${name}`, seen] as const),
    ...Object.entries(positions).map(([name, seq]) => [`the ${name}`, { ...nothingSeen, seq }] as const),
  ]);
};

/**
 * Accepts a loss: nothing that was given out for a lost commit is used again, and no cursor, row, snapshot or witness is ahead of the log.
 * First it is recorded in the audit trail. After a failure at any point the log still counts as gone back: call it again. Resolves with the
 * last sequence that is given up.
 */
export const acceptLoss = async (tools: LossTools, loss: LogLoss, { actor, reason }: Acceptance): Promise<number> => {
  const { cursors, memory, ports, witness } = tools;
  const { audit, clock, events } = ports;
  const { keptThrough, reached } = loss;
  const through = reached + unseenMargin;
  const detail = `the log is kept up to ${keptThrough} and had reached ${reached}; ${through} is given up; reason: ${reason}`;
  await audit.append({ v: 1, at: clock.now(), kind: 'log_loss_accepted', actor, outcome: 'ok', detail });
  // Who alone has seen the end of the log may be lowered before this is done.
  await witness.raise({ incarnation: null, seq: reached, digest: undecided, accepted: (await witness.read()).accepted });
  await putBackIndex(tools, loss);
  if ((await memory.position()) > keptThrough) await memory.reset();
  for (const [name, seen] of await cursors.all()) {
    const seq = Math.min(seen.seq, keptThrough);
    const { incarnation, digest } = await events.view(seq);
    await cursors.put(name, { incarnation, seq, digest });
  }
  await tools.dropSnapshots();
  await tools.giveUpPlaces(loss.lastSeq, through);
  // Last: the processes that wait for it go on.
  const { lastSeq } = await events.info();
  const { incarnation, digest } = await events.view(lastSeq);
  await witness.accept({ incarnation, seq: lastSeq, digest });
  return lastSeq;
};

/** Gives each row that is ahead of the log the state that the log has. */
const putBackIndex = async ({ ports, indexRepair }: LossTools, { keptThrough }: LogLoss): Promise<void> => {
  for (const key of await indexRepair.ahead(keptThrough)) await indexRepair.replace(key, await rowOf(ports.events, key));
  await indexRepair.lower(keptThrough);
};

const rowOf = async (events: EventLog, key: SessionKey): Promise<IndexRow | null> => {
  let row: IndexRow | null = null;
  try {
    for await (const commit of events.read(key)) row = summarize(row, commit);
  } catch (error) {
    if (!hasCode(error, 'quarantined') && !hasCode(error, 'invalid')) throw error;
  }
  return row;
};
