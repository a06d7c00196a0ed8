import {
  type Entry,
  type EntryBounds,
  entriesOf,
  revisedCommit,
  revisionsIn,
} from '../../../shared/domain/introspection/entry.ts';
import { entryCharacters, type Notes } from '../../../shared/domain/introspection/prompt.ts';
import type { CheckpointRequest, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';

/** The next slice of a request to introspect: as many whole commits as the model takes at a time. */
export interface IntrospectionSlice {
  readonly fromRev: number;
  readonly toRev: number;
  /** Sequence of the commit `toRev`. */
  readonly toSeq: number;
  readonly entries: readonly Entry[];
  /** The notes of the previous introspection. */
  readonly notes: Notes;
  /** Sequence of the last commit that changed a memory, of those read; 0: none did. */
  readonly memorySeq: number;
}

const commandPrefix = ({ id }: Pick<CheckpointRequest, 'id'>): string => `introspect-${id}-`;
/** The id of the command that records a slice's result. It takes effect once, whoever sends it and however often. */
export const commandIdOf = (request: Pick<CheckpointRequest, 'id'>, fromRev: number): string =>
  `${commandPrefix(request)}${fromRev}`;

/** Commits read without a pause, about 1 ms: a log may be long, and callers of the same process wait for their answers meanwhile. */
const readCommits = 16;
/** Commits of a request that are kept while its next slice is looked for. */
const keptCommits = 256;

type LogPorts = Pick<Ports, 'events' | 'clock'>;
type Wanted = Pick<CheckpointRequest, 'id' | 'key' | 'sessionId' | 'fromRev' | 'toRev' | 'afterSeq' | 'throughSeq'>;

/**
 * The next slice of a request, at most `characters` long but at least one commit, according to the leader's current log. `null`:
 * all of it has been introspected or has failed in this request, or the session was deleted or erased. Only events of the
 * request's generation are read. Throws `unavailable` or `quarantined`.
 */
export const readNextSlice = async (ports: LogPorts, request: Wanted, characters: number): Promise<IntrospectionSlice | null> => {
  const last = await orQuarantined(ports.events.last(request.key));
  if (last === null || last.seq < request.throughSeq) return null;
  const commits = new CommitsOnce(ports, request, last.seq);
  for (let wanted = request; ; ) {
    const found = await orQuarantined(readSlice(ports, wanted, commits, characters));
    if (found === null || 'entries' in found) return found;
    wanted = { ...wanted, ...found };
  }
};

/** The commits of a key up to a sequence. What was read once is kept, within bounds, so that a later part is not read again. */
class CommitsOnce {
  readonly #ports: LogPorts;
  readonly #key: CheckpointRequest['key'];
  readonly #through: number;
  #kept: readonly RecordedCommit[] | null = null;

  constructor(ports: LogPorts, { key }: Wanted, through: number) {
    this.#ports = ports;
    this.#key = key;
    this.#through = through;
  }

  /** Those after a sequence, which never goes back. */
  async *after(after: number): AsyncGenerator<RecordedCommit> {
    if (this.#kept !== null) return yield* this.#kept.filter(({ seq }) => seq > after);
    const kept: RecordedCommit[] = [];
    for await (const commit of readThrough(this.#ports, this.#key, { after, through: this.#through })) {
      if (kept.length <= keptCommits) kept.push(commit);
      yield commit;
    }
    if (kept.length <= keptCommits) this.#kept = kept;
  }
}

/**
 * The log shows after the range what has been done in the meantime; reading then starts again with the first part that is left.
 */
type Left = Pick<Wanted, 'fromRev' | 'toRev' | 'afterSeq'>;

const readSlice = async (
  ports: LogPorts,
  wanted: Wanted,
  commits: CommitsOnce,
  characters: number,
): Promise<IntrospectionSlice | Left | null> => {
  const slice = createSlice(wanted, characters);
  let notes: Notes = { workingMemory: '', description: '' };
  let memorySeq = 0;
  const done: Done[] = [];
  const failed: Done[] = [];
  const texts = new Map<string, string>();
  let read = 0;
  if (wanted.fromRev > wanted.toRev) return null;
  for await (const commit of commits.after(wanted.afterSeq)) {
    for (const event of commit.events) {
      if (event.type === 'session_deleted' && commit.rev >= wanted.fromRev) return null;
      // Also for other generations: a commit that ends one generation and starts the next is introspected once, with the first
      // (C10).
      if (event.type === 'introspection_failed') (isOurs(wanted, commit) ? done : failed).push(event);
      if (event.type === 'introspected') done.push(event);
      if (event.type === 'memory_changed') memorySeq = commit.seq;
      if (event.type !== 'introspected' || event.sessionId !== wanted.sessionId) continue;
      notes = { workingMemory: event.workingMemory ?? notes.workingMemory, description: event.description ?? notes.description };
    }
    slice.add(commit);
    if (++read % readCommits === 0) await ports.clock.sleep(0);
    for (const [of, text] of revisionsIn(commit)) texts.set(of, text);
  }
  const left = alone(firstOpen(wanted, done), failed);
  if (left.fromRev !== wanted.fromRev || left.toRev !== wanted.toRev) return left;
  const end = slice.end();
  return end && { fromRev: wanted.fromRev, toRev: end.rev, toSeq: end.seq, entries: slice.entries(texts), notes, memorySeq };
};

const isOurs = (wanted: Wanted, { command }: RecordedCommit): boolean => command.id.startsWith(commandPrefix(wanted));

type Done = EventOf<'introspected'> | EventOf<'introspection_failed'>;

/** The first part of a range that is not done yet. */
const firstOpen = ({ toRev, ...wanted }: Left, done: readonly Done[]): Left => {
  let { fromRev, afterSeq } = wanted;
  for (const range of [...done].sort((one, other) => one.fromRev - other.fromRev)) {
    if (range.fromRev > fromRev) return { fromRev, afterSeq, toRev: Math.min(toRev, range.fromRev - 1) };
    if (range.toRev < fromRev) continue;
    fromRev = range.toRev + 1;
    afterSeq = range.toSeq ?? afterSeq;
  }
  return { fromRev, afterSeq, toRev };
};

/**
 * Cuts the range at the edges of ranges that failed in other requests: those are tried on their own, so that they do not make
 * others fail.
 */
const alone = ({ fromRev, toRev, afterSeq }: Left, failed: readonly Done[]): Left => {
  const ends = failed.map((range) => (range.fromRev > fromRev ? range.fromRev - 1 : range.toRev));
  return { fromRev, afterSeq, toRev: Math.min(toRev, ...ends.filter((end) => end >= fromRev)) };
};

const createSlice = ({ sessionId, fromRev, toRev }: Wanted, characters: number) => {
  const taken: RecordedCommit[] = [];
  let count = 0;
  const most = Math.floor(characters / 4);
  const bounds: EntryBounds = {
    said: Math.min(limits.introspectionSaidCharacters, most),
    tools: Math.min(limits.introspectionToolCharacters, most),
  };
  let room = characters;
  let isFull = false;
  let end: { rev: number; seq: number } | null = null;
  return {
    entries: (texts: ReadonlyMap<string, string>): Entry[] =>
      taken.flatMap((commit) => entriesOf(revisedCommit(commit, texts), sessionId, bounds)),
    add: (commit: RecordedCommit): void => {
      if (isFull || commit.rev < fromRev || commit.rev > toRev) return;
      const more = entriesOf(commit, sessionId, bounds);
      room -= more.reduce((sum, entry) => sum + entryCharacters(entry), 0);
      isFull = room < 0 && count > 0 && more.length > 0;
      if (isFull) return;
      count += more.length;
      taken.push(commit);
      end = commit;
    },
    end: () => end,
  };
};
