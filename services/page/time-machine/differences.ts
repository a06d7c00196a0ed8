import diff from 'microdiff';
import type { SessionContext } from '../../../shared/domain/session/context.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { fieldWords } from '../../../shared/kit/text/field-words.ts';
import type { Fork, Timeline } from '../past/timeline.ts';

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

type Part = SessionContext['prompt'][number];
const partWords = (part: Part | undefined): string | undefined => part && counted(part.characters, 'character');
const promptWords = (parts: readonly Part[]): string | undefined =>
  parts.length === 0
    ? undefined
    : `${counted(parts.length, 'part')}, ${counted(
        parts.reduce((sum, { characters }) => sum + characters, 0),
        'character',
      )}`;

/** What changed in the instructions of the model: its parts by their names, or all of them at once where there were none. */
export const promptChanges = (before: Pick<SessionContext, 'prompt'>, after: Pick<SessionContext, 'prompt'>): Change[] => {
  const [old, now] = [before.prompt, after.prompt];
  // They are read again with the next step.
  if (now.length === 0) return [];
  if (old.length === 0) return [{ path: 'context.prompt', before: undefined, after: promptWords(now) }];
  const find = (parts: readonly Part[], wanted: string) => parts.find(({ name }) => name === wanted);
  return [...new Set([...old, ...now].map(({ name }) => name))]
    .map((name) => ({ path: `context.prompt.${name}`, before: partWords(find(old, name)), after: partWords(find(now, name)) }))
    .filter((change) => change.before !== change.after);
};

/** Counts that a fork begins anew: beside those of what it left behind they say nothing of what the agent knows. */
const counts = /^context\.(messages|completedTurns|compactions|usage|review\.(messages|turns))\b/;
export const isCount = ({ path }: Pick<Change, 'path'>): boolean => counts.test(path);

/** Those counts of a fork and of what it left behind, as far as they differ, both from their common ancestor on, where there is one. */
export const branchCounts = (timeline: Timeline, { place, end, left, kept }: Fork): Change[] => {
  const count = (commits: Fork['left'], to: number): Readonly<Record<string, number>> => {
    const events = commits.flatMap((commit) => commit.events);
    return {
      knownMessages: timeline.knownAt(to).length,
      failedAnswers: events.filter(({ type }) => type === 'turn_failed').length,
      spentTokens: events.reduce(
        (sum, event) => (event.type === 'model_step' || event.type === 'context_compacted' ? sum + event.usage.totalTokens : sum),
        0,
      ),
    };
  };
  return changesBetween(count(left, place - 1), count(kept, end));
};

/** How the session is set up, which is not what the conversation made of it. */
const settings = /^context\.(skills|settings)\b/;
export const isSetting = ({ path }: Pick<Change, 'path'>): boolean => settings.test(path);

type Listed = Pick<SessionContext, 'skills' | 'prompt'>;

export interface SkillChanges {
  readonly summary: string;
  readonly details: readonly string[];
}

/** What differs in the skills of a fork and of what it left behind; `null`: nothing, or the model of one of them was not asked yet. */
export const skillChanges = (before: Listed, after: Listed): SkillChanges | null => {
  if (before.prompt.length === 0 || after.prompt.length === 0) return null;
  const byName = ({ skills }: Listed) => new Map(skills.map(({ name, digest }) => [name, digest]));
  const [old, now] = [byName(before), byName(after)];
  const lost = [...old.keys()].filter((name) => !now.has(name));
  const added = [...now.keys()].filter((name) => !old.has(name));
  const revised = [...now].filter(([name, digest]) => old.has(name) && old.get(name) !== digest).map(([name]) => name);
  if (lost.length + added.length + revised.length === 0) return null;
  const first = old.size === now.size ? `${added.length + revised.length} of` : `${old.size} →`;
  const lines = [
    ['Only left behind', lost],
    ['Only since then', added],
    ['In another version', revised],
  ] as const;
  return {
    summary: `${first} ${counted(now.size, 'skill')}`,
    details: lines.filter(([, names]) => names.length > 0).map(([words, names]) => `${words}: ${names.join(', ')}`),
  };
};

/** Names of fields that say nothing to who does not know the code. */
const named: Readonly<Record<string, string>> = {
  generation: 'times it began, was reset or forked',
  turn: 'answer under way',
  prompt: 'instructions',
  knownMessages: 'messages that the agent knew',
  failedAnswers: 'failed answers that they do not share',
  spentTokens: 'tokens that they do not share',
  rev: 'commits of the session',
  seq: 'log sequence',
  startedRev: 'its first commit',
  startedSeq: 'its first commit, log sequence',
  contextSeq: 'what the agent knows begins at, log sequence',
};

const promptPath = 'context.prompt.';

/** The path of a field in words: `context.usage.contextTokens` is "usage, context tokens". */
export const plainPath = (path: string): string => {
  // The name of a part may be that of a file.
  if (path.startsWith(promptPath)) return `instructions, ${path.slice(promptPath.length)}`;
  return path
    .replace(/^(context|position)\./, '')
    .split('.')
    .map((name) => named[name] ?? (/^\d+$/.test(name) ? `number ${Number(name) + 1}` : fieldWords(name)))
    .join(', ');
};
