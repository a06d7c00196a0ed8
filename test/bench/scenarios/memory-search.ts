import { MemoryFold } from '../../../services/checkpoint/memory/fold.ts';
import { SearchIndex } from '../../../shared/adapters/kv/memory/memory-search-index.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { scopeName } from '../../../shared/domain/memory/memory-scope.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { MemoryScopes } from '../../../shared/ports/memory-store.ts';
import { quantile } from '../load.ts';
import type { Row } from '../table.ts';

const events = 1_000_000;
/** One event in ten is something to remember. */
const memories = 100_000;
const people = 1_000;
const searches = 1_000;
/** Events that are made, and then folded, at a stretch. */
const stretch = 10_000;

/** The same numbers on each run. */
const randomOf = (seed: number) => (): number => {
  let mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d);
  seed = (seed + 0x9e3779b9) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
};
const random = randomOf(7);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

const common = ['the', 'user', 'likes', 'a', 'is', 'with', 'and', 'prefers', 'works', 'lives'];
const rare = Array.from({ length: 20_000 }, (_, at) => `w${(at * 7_919).toString(36)}`);
/** Some rare words are much rarer than others. */
const word = (): string => (random() < 0.4 ? pick(common) : (rare[Math.floor(random() * random() * rare.length)] ?? ''));
const sentence = (words: number): string => Array.from({ length: words }, word).join(' ');

const keyAt = (number: number): SessionKey => `agent:main:telegram:dm:${number % people}` as SessionKey;
const eventAt = (number: number): SessionEvent => {
  if (number % (events / memories) !== 0) {
    return { type: 'user_message', v: 1, message: { messageId: `m${number}`, text: 'hello', sender: { id: '1' } } };
  }
  const scope = { kind: 'person', principal: `telegram:${(number / 10) % people}` } as const;
  return {
    ...{ type: 'memory_changed', v: 1, by: 'introspection', sessionId: 's', fromRev: 1, toRev: 2 },
    changes: [{ op: 'add', scope, text: sentence(14) }],
    reach: [scope],
  };
};
const commitAt = (number: number): RecordedCommit => ({
  ...{ v: 1, id: `c${number}`, key: keyAt(number), rev: number, sessionId: 's', epoch: 0, at: number, recordedAt: number },
  ...{
    correlationId: 'bench',
    causationId: 'bench',
    actor: 'bench',
    command: { id: `c${number}`, seq: null, incarnation: null },
  },
  events: [eventAt(number)],
  seq: number,
  digest: '',
});

/** Folds all events and puts what they say into the index. */
const built = (): { index: SearchIndex; tookMs: number } => {
  const index = new SearchIndex();
  const fold = new MemoryFold();
  let tookMs = 0;
  for (let from = 1; from <= events; from += stretch) {
    const commits = Array.from({ length: stretch }, (_, at) => commitAt(from + at));
    const began = performance.now();
    for (const commit of commits) fold.add(commit);
    for (const entry of fold.takeNews().entries) index.set(entry);
    tookMs += performance.now() - began;
  }
  return { index, tookMs };
};

const searched = (index: SearchIndex, what: string, scopesOf: () => MemoryScopes): Row => {
  const tookMs = Array.from({ length: searches }, () => {
    const options = { scopes: scopesOf(), query: sentence(4), limit: 20 };
    const began = performance.now();
    index.search(options);
    return performance.now() - began;
  }).sort((one, other) => one - other);
  const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)];
  return { what, value: p99, unit: 'ms p99', goal: 'under 30 ms', note: `p50 ${p50.toFixed(2)} ms` };
};

/** The index of the long-term memory: made from a million events, and searched with 100,000 memories in it. */
export const memorySearch = async (): Promise<Row[]> => {
  const { index, tookMs } = built();
  const ofPerson = () => [
    scopeName({ kind: 'person', principal: `telegram:${Math.floor(random() * people)}` }, keyAt(0)),
    'agent:main',
  ];
  const rows = [
    {
      what: `made from ${events} events`,
      value: events / (tookMs / 1_000),
      unit: 'events/s',
      goal: 'over 50,000',
      note: `${index.size} memories`,
    },
    searched(index, 'search of one person, four words', ofPerson),
    searched(index, 'search of everything, four words', () => 'all'),
  ];
  index.close();
  return rows;
};
