import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { type MemoryChange, type MemoryEdit, type MemoryScope, memoryChange } from '../values/memory-edit.ts';
import { settings } from '../values/settings.ts';
import { borrowingFrom } from './basis.ts';
import type { Entry } from './entry.ts';
import type { ShownMemory } from './prompt.ts';

const [add, update, forget] = memoryChange.options;
/** Each change names the lines it is based on. */
const basis = { from: add.shape.from.unwrap() };
const change = z.discriminatedUnion('op', [add.omit({ scope: true }).extend(basis), update.extend(basis), forget.extend(basis)]);
/** The answer expected from the model (A7/82). The model does not choose the scope of an added memory. */
const introspectionAnswer = z.object({
  workingMemory: z.string().trim().max(limits.workingMemoryCharacters),
  description: z.string().trim().max(limits.descriptionCharacters),
  memory: z.array(change).max(limits.introspectionChanges),
});
export type IntrospectionAnswer = z.infer<typeof introspectionAnswer>;

/** What the model was shown. Its answer may refer to nothing else. */
export interface ShownInput {
  readonly memories: readonly ShownMemory[];
  readonly lines: readonly Entry[];
}

/** Leaves room for the answer in a command, whatever characters it contains. */
const answerCharacters = limits.commandBytes / 4;

/** The answer, or its problem in words that the model can act on. One invalid part invalidates the whole answer. */
export const readAnswer = (
  text: string,
  shown: ShownInput,
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

/** The first change that refers to an unknown id or line, or repeats what only a tool or a program said. */
const problemWith = (changes: IntrospectionAnswer['memory'], { memories, lines }: ShownInput): string | undefined => {
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

/** Some models put a code fence around JSON despite the instructions. Any other text around it makes the answer invalid. */
const unfenced = (text: string): string => /^\s*```(?:json)?[ \t]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;

/** The result of an introspection, as it is recorded. An empty description is omitted. */
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

/**
 * The scope is the person's if the session has only one person, else the session's. Of several changes of one memory the last
 * wins.
 */
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

/** Normalises a text for comparison: case, white space and final punctuation do not matter. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[.!]+$/, '');
