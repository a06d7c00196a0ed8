import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { type MemoryChange, type MemoryEdit, type MemoryScope, memoryChange } from '../values/memory-edit.ts';
import { settings } from '../values/types.ts';
import { borrowingFrom } from './basis.ts';
import type { Entry } from './entry.ts';
import type { ShownMemory } from './prompt.ts';

const [add, update, forget] = memoryChange.options;
/** Each change says what it rests on. */
const basis = { from: add.shape.from.unwrap() };
const change = z.discriminatedUnion('op', [add.omit({ scope: true }).extend(basis), update.extend(basis), forget.extend(basis)]);
/** What the model has to answer (A7/82). Whose an added memory is, is not for it to say. */
const introspectionAnswer = z.object({
  workingMemory: z.string().trim().max(limits.workingMemoryCharacters),
  description: z.string().trim().max(limits.descriptionCharacters),
  memory: z.array(change).max(limits.introspectionChanges),
});
export type IntrospectionAnswer = z.infer<typeof introspectionAnswer>;

/** What the model was shown: an answer must keep to it. */
export interface Shown {
  readonly memories: readonly ShownMemory[];
  readonly lines: readonly Entry[];
}

/** What is made of the answer has room in a command, whatever characters it has. */
const answerCharacters = limits.commandBytes / 4;

/** The answer, or what is wrong with it in words that the model can act on. All of it is right, or nothing of it counts. */
export const readAnswer = (
  text: string,
  shown: Shown,
): { readonly answer: IntrospectionAnswer } | { readonly problem: string } => {
  if (text.length > answerCharacters) return { problem: `it is longer than ${answerCharacters} characters` };
  let value: unknown;
  try {
    value = JSON.parse(unfenced(text));
  } catch {
    return { problem: 'it is not one JSON object alone' };
  }
  const { success, data, error } = introspectionAnswer.safeParse(value);
  if (!success) {
    const issues = error.issues.slice(0, 5).map(({ path, message }) => `${path.join('.') || 'the answer'}: ${message}`);
    return { problem: issues.join('; ') };
  }
  const problem = problemWith(data.memory, shown);
  return problem === undefined ? { answer: data } : { problem };
};

/** What is wrong with the first change that rests on what it must not. */
const problemWith = (changes: IntrospectionAnswer['memory'], { memories, lines }: Shown): string | undefined => {
  if (changes.length === 0) return undefined;
  const ids = new Set(memories.map(({ id }) => id));
  const numbers = new Set(lines.map(({ line }) => line));
  const borrowedIn = borrowingFrom(
    lines,
    memories.map(({ text }) => text),
  );
  for (const [at, given] of changes.entries()) {
    if (given.op !== 'add' && !ids.has(given.id))
      return `memory.${at}.id: ${JSON.stringify(given.id.slice(0, 64))} is none of the ids of the memories shown`;
    const wrong = given.from.find((number) => !numbers.has(number));
    if (wrong !== undefined)
      return `memory.${at}.from: ${wrong} is the "line" of nothing in the transcript; leave the change out if it rests on something else`;
    const borrowed = given.op === 'forget' ? undefined : borrowedIn(given.text);
    if (borrowed !== undefined)
      return `memory.${at}.text: ${JSON.stringify(borrowed)} is what a tool or a program said, not what the lines in "from" say; leave the change out`;
  }
  return undefined;
};

/** Some models put a fence around JSON, whatever they are told. Anything else around it is a bad answer. */
const unfenced = (text: string): string => /^\s*```(?:json)?[ \t]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;

/** What the look back came to, as it is recorded. An empty description is none. */
export const outcomeOf = (
  { workingMemory, description, memory }: IntrospectionAnswer,
  memories: readonly ShownMemory[],
  reach: readonly MemoryScope[],
): { workingMemory: string; description?: string; memory?: MemoryEdit } => {
  const changes = changesOf(memory, memories, reach);
  return {
    workingMemory,
    ...(description !== '' && { description: settings.shape.description.parse(description) }),
    ...(changes.length > 0 && { memory: { changes, reach: [...reach] } }),
  };
};

/** What one person alone has said is remembered of them, all else of the session. Of several changes of one memory the last counts. */
const changesOf = (
  changes: IntrospectionAnswer['memory'],
  memories: readonly ShownMemory[],
  reach: readonly MemoryScope[],
): MemoryChange[] => {
  const scope = reach.find(({ kind }) => kind === 'person') ?? reach.find(({ kind }) => kind === 'session');
  if (scope === undefined) return [];
  const known = new Set(memories.map(({ text }) => plain(text)));
  const byPlace = new Map<string, MemoryChange>();
  for (const change of changes) {
    const place = change.op === 'add' ? `add ${plain(change.text)}` : `of ${change.id}`;
    if (change.op === 'add' && known.has(plain(change.text))) continue;
    byPlace.set(place, change.op === 'add' ? { ...change, scope } : change);
  }
  return [...byPlace.values()];
};

/** Texts that differ in nothing but case, spaces and the full stop say the same. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[.!]+$/, '');
