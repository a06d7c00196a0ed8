import { plain } from '../../domain/introspection/answer.ts';
import type { Entry } from '../../domain/introspection/entry.ts';
import { readPrompt, type ShownMemory } from '../../domain/introspection/prompt.ts';
import { limits } from '../../kit/limits.ts';

/**
 * The offline model's introspection (`docs/use/offline-model.md`). The description is the first message, the working memory is
 * the last exchange, and a memory is added or forgotten only if a numbered line asks for it literally.
 */
export const offlineIntrospection = (prompt: string): string => {
  const { notes, memories, entries } = readPrompt(prompt);
  const said = entries.filter(({ text }) => text !== '');
  const people = said.filter(({ role }) => role === 'user');
  return JSON.stringify({
    workingMemory: lastExchange(said) || notes.workingMemory,
    description: notes.description || beginning(people[0]?.text ?? ''),
    memory: changes(said, memories),
  });
};

const beginning = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 80).toWellFormed();

const lastExchange = (said: readonly Entry[]): string => {
  const ends = [said.findLast(({ role }) => role === 'user'), said.findLast(({ role }) => role === 'assistant')];
  const each = Math.floor(limits.workingMemoryCharacters / 2) - 100;
  return ends
    .flatMap((entry) => (entry ? [`${entry.from?.slice(0, 64) ?? 'agent'}: ${entry.text.slice(0, each)}`] : []))
    .join('\n')
    .toWellFormed();
};

/** The beginning of a sentence about memory; the agent may be addressed by a name first. */
const memoryRequest = /^(?:[\w@#.-]{1,32}[:,]\s+)?(?:please\s+)?(remember|forget)(?:\s+that\s+|:\s*)(\S.*?)[.!]*$/i;

/** Characters of all changes: an answer has room for twice as many. */
const changesCharacters = limits.commandBytes / 8;

const changes = (said: readonly Entry[], memories: readonly ShownMemory[]): object[] => {
  const added = new Map<string, object>();
  const forgotten = new Map<string, object>();
  const sentences = said.flatMap(({ line, text }) =>
    line === undefined ? [] : text.split(/(?<=[.!?])\s+|\n+/).map((sentence) => ({ sentence, from: [line] })),
  );
  for (const { sentence, from } of sentences) {
    const [, verb, fact] = memoryRequest.exec(sentence.trim()) ?? [];
    if (verb === undefined || fact === undefined) continue;
    const text = fact.slice(0, limits.memoryCharacters).toWellFormed();
    const known = memories.find((memory) => plain(memory.text) === plain(text));
    if (verb.toLowerCase() === 'remember') {
      forgotten.delete(known?.id ?? '');
      if (known === undefined) added.set(plain(text), { op: 'add', text, from });
    } else {
      added.delete(plain(text));
      if (known) forgotten.set(known.id, { op: 'forget', id: known.id, reason: 'somebody asked for it', from });
    }
  }
  let room = changesCharacters;
  return [...added.values(), ...forgotten.values()].slice(0, limits.introspectionChanges).filter((change) => {
    room -= JSON.stringify(change).length;
    return room >= 0;
  });
};
