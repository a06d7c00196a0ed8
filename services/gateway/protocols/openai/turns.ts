import { z } from 'zod';
import { limits } from '../../../../shared/kit/limits.ts';
import type { IncomingFile } from '../../attachments/incoming-file.ts';
import { contentOf, onlyUsers, textOf } from './content.ts';

/** What a request says, in OpenAI's two forms, as one kind of turns. */

/** A call of a tool that the program runs. */
export interface ClientCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One message of the request. A `tool` turn is the result of a call. */
export type Turn =
  | { readonly role: 'system' | 'developer'; readonly text: string }
  | { readonly role: 'user'; readonly text: string; readonly files?: readonly IncomingFile[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls?: readonly ClientCall[] }
  | { readonly role: 'tool'; readonly text: string; readonly callId: string };

const optionalText = z.preprocess((content) => content ?? '', textOf);

const asText = (missing: string) => z.string(missing);
const callId = z.string('name the call that this is the result of').min(1).max(512);
const given = {
  name: asText('name the tool').min(1, 'name the tool').max(limits.toolNameCharacters),
  arguments: asText('use a text of JSON').max(limits.toolArgumentsCharacters),
};

/** `messages` of a chat completion. */
export const chatTurn = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer']), content: textOf }).transform(({ role, content }): Turn => {
      return { role, text: content };
    }),
    z.object({ role: z.literal('user'), content: contentOf }).transform(({ role, content }): Turn => ({ role, ...content })),
    z
      .object({
        role: z.literal('assistant'),
        content: optionalText.optional(),
        refusal: z.string('use a text').nullish(),
        tool_calls: z
          .array(
            z.object({
              id: callId,
              type: z.literal('function', 'only calls of functions are taken').optional(),
              function: z.object(given, 'use the name and the arguments'),
            }),
            'use a list of calls',
          )
          .nullish(),
      })
      .transform(({ content = '', refusal, tool_calls: calls }): Turn => {
        const text = [content, refusal ?? ''].filter((said) => said !== '').join('\n\n');
        const made = calls?.map(({ id, function: { name, arguments: written } }) => ({ id, name, arguments: written }));
        return { role: 'assistant', text, ...(made && { calls: made }) };
      }),
    z
      .object({ role: z.literal('tool'), content: textOf, tool_call_id: callId })
      .transform(({ content, tool_call_id: id }): Turn => {
        return { role: 'tool', text: content, callId: id };
      }),
  ],
  { error: 'use "system", "developer", "user", "assistant" or "tool"' },
);

/** An item of an earlier answer, in place of the item itself. */
export interface ItemReference {
  readonly itemId: string;
}

/** An item of a response; reasoning is nobody's to send back, so it is left out. */
export const responseItem = z.discriminatedUnion('type', [
  z
    .object({
      type: z.literal('message'),
      role: z.enum(['system', 'developer', 'user', 'assistant'], 'use "system", "developer", "user" or "assistant"'),
      content: contentOf,
    })
    .transform(({ role, content: { text, files } }, context): Turn | null => {
      if (role === 'user') return { role, text, files };
      if (files.length > 0) context.addIssue({ code: 'custom', message: onlyUsers, path: ['content'] });
      return { role, text };
    }),
  z
    .object({ type: z.literal('function_call'), call_id: callId, ...given })
    .transform(({ call_id: id, name, arguments: written }): Turn | null => {
      return { role: 'assistant', text: '', calls: [{ id, name, arguments: written }] };
    }),
  z
    .object({ type: z.literal('function_call_output'), call_id: callId, output: textOf })
    .transform(({ call_id: id, output }): Turn | null => ({ role: 'tool', text: output, callId: id })),
  z.object({ type: z.literal('reasoning') }).transform((): Turn | null => null),
]);
const itemReference = z
  .object({ type: z.literal('item_reference'), id: z.string('name the item').min(1, 'name the item').max(1_024) })
  .transform(({ id }): ItemReference => ({ itemId: id }));

/** OpenAI's clients may leave the type out. */
const withType = (item: unknown): unknown => {
  if (typeof item !== 'object' || item === null || ('type' in item && item.type !== null)) return item;
  return { ...item, type: 'id' in item && !('role' in item) ? 'item_reference' : 'message' };
};
/** An item of `input` of a response. */
export const inputItem = z.preprocess(
  withType,
  z.discriminatedUnion('type', [...responseItem.options, itemReference], {
    error: 'use messages, calls of functions and their outputs, or references to items',
  }),
);
export type InputItem = z.infer<typeof inputItem>;
