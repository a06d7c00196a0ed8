import diff from 'microdiff';
import { fieldWords } from '../../../shared/kit/text/field-words.ts';

/** One difference between two states, by the path of what differs. */
export interface Change {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** As JSON has it: without what is `undefined`. */
const plain = (value: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

/** All differences between two states. */
export const changesBetween = (before: unknown, after: unknown): Change[] =>
  diff(plain(before), plain(after), { cyclesFix: false }).map((one) => ({
    path: one.path.join('.'),
    before: one.type === 'CREATE' ? undefined : one.oldValue,
    after: one.type === 'REMOVE' ? undefined : one.value,
  }));

/** What changes with every commit or generation and says nothing by itself: its place, its digests, the ids it remembers, and what it was made of. */
const bookkeeping =
  /^(context\.(epoch|sessionId|resolved|prompt|revisable|usage\.estimated)|position\.(seq|rev|at|digest|chained|command|recentIds|olderIds|window|orders|calls|covered|interactedAt|startedRev|startedSeq|contextSeq|skips))\b/;
export const isBookkeeping = ({ path }: Change): boolean => bookkeeping.test(path);

/** Counts that a fork begins anew: beside those of what it left behind they say nothing of what the agent knows. */
const counts = /^context\.(messages|completedTurns|compactions|usage|review\.(messages|turns))\b/;
export const isCount = ({ path }: Pick<Change, 'path'>): boolean => counts.test(path);

/** Names of fields that say nothing to who does not know the code. */
const named: Readonly<Record<string, string>> = {
  generation: 'beginnings, resets and forks',
  turn: 'answer under way',
  rev: 'commits of the session',
  seq: 'number in the log of all sessions',
  startedRev: 'its first commit',
  startedSeq: 'its first commit, in the log of all sessions',
  contextSeq: 'what the agent knows begins at, in the log of all sessions',
};

/** The path of a field in words: `context.usage.contextTokens` is "usage, context tokens". */
export const plainPath = (path: string): string =>
  path
    .replace(/^(context|position)\./, '')
    .split('.')
    .map((name) => named[name] ?? (/^\d+$/.test(name) ? `number ${Number(name) + 1}` : fieldWords(name)))
    .join(', ');
