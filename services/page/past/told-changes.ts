import { memoryIdsOf } from '../../../shared/domain/memory/order.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventType } from '../../../shared/domain/session/events.ts';
import type { Timeline } from './timeline.ts';

/** What events change that the state of a session does not have: the words of messages, and memories. */

interface Told {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const hasAny = (commits: readonly RecordedCommit[], types: readonly EventType[]): boolean =>
  commits.some(({ events }) => events.some(({ type }) => types.includes(type)));

/** The messages that the agent knew at both moments, and not in the same words. */
const revisedMessages = (timeline: Timeline, first: number, last: number): Told[] => {
  const old = new Map(timeline.knownAt(first).map(({ id, text }) => [id, text]));
  return timeline.knownAt(last).flatMap(({ id, seq, text }) => {
    const before = old.get(id);
    const path = `what was said in commit ${timeline.numberAt(timeline.countAt(seq))}`;
    return before === undefined || before === text ? [] : [{ path, before, after: text }];
  });
};

/** The text of each memory that commits name by its id; `undefined`: it was forgotten. One of another session has no text before its change. */
const memoryTexts = (commits: readonly RecordedCommit[]): ReadonlyMap<string, string | undefined> => {
  const texts = new Map<string, string | undefined>();
  for (const commit of commits) {
    const added = memoryIdsOf(commit).values();
    for (const event of commit.events)
      for (const change of event.type === 'memory_changed' ? event.changes : [])
        if (change.op === 'add') texts.set(added.next().value ?? '', change.text);
        else texts.set(change.id, change.op === 'update' ? change.text : undefined);
  }
  return texts;
};

const changedMemories = ({ commits }: Timeline, first: number, last: number): Told[] => {
  const between = commits.slice(first, last);
  const [old, now, added] = [memoryTexts(commits.slice(0, first)), memoryTexts(between), new Set(between.flatMap(memoryIdsOf))];
  return [...now]
    .map(([id, after]) => ({ path: 'memory', before: old.get(id) ?? (added.has(id) ? undefined : `memory ${id}`), after }))
    .filter(({ before, after }) => before !== after);
};

/** What was edited, withdrawn, remembered or forgotten between two moments. */
export const toldChanges = (timeline: Timeline, first: number, last: number): Told[] => {
  const between = timeline.commits.slice(first, last);
  return [
    ...(hasAny(between, ['message_edited', 'message_withdrawn']) ? revisedMessages(timeline, first, last) : []),
    ...(hasAny(between, ['memory_changed']) ? changedMemories(timeline, first, last) : []),
  ];
};
