import { z } from 'zod';
import type { MemoryScope } from '../../../shared/domain/values/memory-edit.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import type { Tool, ToolEnd } from '../../../shared/ports/tools.ts';
import type { MemoryReader } from '../memory/reader.ts';
import { defineTool } from './define.ts';
import { found } from './memory-look.ts';

/** Changes to memory by a model. A call changes nothing itself: the edit it requests is recorded with its result, once. */

export const memoryAddName = 'memory_add';

const text = z
  .string()
  .trim()
  .min(1, 'is empty; say what to remember')
  .max(limits.memoryCharacters)
  .describe('One fact, complete in itself: it is read without this conversation.');
const addInput = z.strictObject({
  text,
  scope: z
    .enum(['person', 'session'])
    .optional()
    .describe('Who it is about: this person in all their conversations, or this conversation alone. Leave it out if unsure.'),
});

/** `memory_add`. The default scope is the person if the session is theirs alone, and otherwise the session. */
export const addTool = (memory: MemoryReader, usual: Tool['usual']): Tool =>
  defineTool({
    name: memoryAddName,
    description: 'Remembers one fact for good. It can be found by memory_search within a second.',
    input: addInput,
    idempotent: true,
    usual,
    line: ({ text, scope }) => `remember${scope === undefined ? '' : ` for the ${scope}`}: ${quoted(text, 1_000)}`,
    act: async ({ text, scope: wanted }, { scope }): Promise<ToolEnd> => {
      const { write } = await memory.at(scope);
      return added(write, wanted ?? (write.some(({ kind }) => kind === 'person') ? 'person' : 'session'), text);
    },
  });

/**
 * `memory_share`: adds a memory for all conversations of the agent. Only the owner's turns may call it, and a person must
 * approve: a web page could have prompted the call, and what is shared goes into everybody's prompt.
 */
export const shareTool = (memory: MemoryReader): Tool =>
  defineTool({
    name: 'memory_share',
    description: 'Remembers one fact for all conversations with everybody. Only the owner may have it done.',
    input: z.strictObject({ text }),
    idempotent: true,
    usual: 'ask',
    line: ({ text }) => `remember for everybody: ${quoted(text, 1_000)}`,
    act: async ({ text }, { scope }): Promise<ToolEnd> => added((await memory.at(scope)).write, 'agent', text),
  });

const added = (write: readonly MemoryScope[], kind: MemoryScope['kind'], text: string): ToolEnd => {
  const target = write.find((scope) => scope.kind === kind);
  if (target === undefined) {
    throw new NatterError('forbidden', `${kind}: its memory cannot be written here; what can is of the ${kindsOf(write)}`);
  }
  const edit = { changes: [{ op: 'add' as const, scope: target, text }], reach: [target] };
  return { outcome: 'ok', text: `remembered for ${toldOf[kind]}`, memory: edit };
};

const toldOf: Readonly<Record<MemoryScope['kind'], string>> = {
  person: 'all conversations with this person',
  session: 'this conversation',
  agent: 'all conversations',
};
const kindsOf = (scopes: readonly MemoryScope[]): string => [...new Set(scopes.map(({ kind }) => kind))].join(' or ');

const forgetInput = z.strictObject({
  id: z.string().min(1).max(limits.idCharacters).describe('The id of a memory, such as 512-0.'),
  reason: z.string().trim().min(1).max(500).describe('Why it is to be forgotten.'),
});

/** `memory_forget`: removes a memory, but only one that this turn may change. */
export const forgetTool = (memory: MemoryReader, usual: Tool['usual']): Tool =>
  defineTool({
    name: 'memory_forget',
    description: 'Forgets one memory that is wrong or not wanted any more.',
    input: forgetInput,
    idempotent: true,
    usual,
    line: ({ id, reason }) => `forget the memory ${quoted(id)}: ${quoted(reason, 500)}`,
    act: async ({ id, reason }, { scope }): Promise<ToolEnd> => {
      const here = await memory.at(scope);
      const target = here.writableScope(found(here, id));
      if (target === undefined) throw new NatterError('forbidden', 'id: this memory cannot be changed from here');
      const edit = { changes: [{ op: 'forget' as const, id, reason }], reach: [target] };
      return { outcome: 'ok', text: 'forgotten', memory: edit };
    },
  });
