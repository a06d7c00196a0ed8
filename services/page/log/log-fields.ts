import { latencyText } from '../../../shared/kit/text/span-text.ts';
import type { Line } from './log-groups.ts';

/** A field of a line, as people read it. */
export interface ShownField {
  readonly name: string;
  readonly words: string;
  readonly text: string;
  /** Other lines have the same one, and belong together. */
  readonly isShared: boolean;
}

/** What is said apart: who wrote the line, and its session and commit. */
const apart: ReadonlySet<string> = new Set(['name', 'pid', 'service', 'member', 'key', 'rev']);
/** The ids that lines share, with a word for each. */
const ids: Readonly<Record<string, string>> = {
  ...{ correlationId: 'run', causationId: 'caused by', commandId: 'command', turnId: 'turn' },
  ...{ requestId: 'request', traceId: 'trace' },
};

/** The names of times, in ms since 1970, and of spans. */
const times = /^at$|(At|Since|Before|Until)$/;
const spans = /Ms$/;

/** `requestTimeoutMs` is "request timeout". */
const spaced = (name: string): string =>
  name.replace(spans, '').replace(/([a-z])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`);

/** The fields of a line in words, with their times as `time` says them. An id that is that of another field is left out. */
export const shownFields = ({ fields }: Pick<Line, 'fields'>, time: (at: number) => string): readonly ShownField[] => {
  const readable = (name: string, value: unknown): unknown => {
    if (typeof value !== 'number') return value;
    if (times.test(name)) return time(value);
    return spans.test(name) ? latencyText(value) : value;
  };
  const said = new Set<unknown>();
  return Object.entries(fields).flatMap(([name, value]) => {
    if (apart.has(name)) return [];
    const isShared = Object.hasOwn(ids, name) && typeof value === 'string';
    if (isShared && said.has(value)) return [];
    said.add(value);
    const shown = readable(name, value);
    const text = typeof shown === 'string' ? shown : JSON.stringify(shown, readable);
    return [{ name, words: ids[name] ?? spaced(name), text, isShared }];
  });
};

/** The commit that a line is about, if it says which. */
export const commitOf = ({
  fields: { key, rev },
}: Pick<Line, 'fields'>): { readonly key: string; readonly rev: number } | null =>
  typeof key === 'string' && typeof rev === 'number' && rev > 0 ? { key, rev } : null;
