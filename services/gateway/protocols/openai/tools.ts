import { z } from 'zod';
import type { ClientRequest, ClientTool } from '../../../../shared/domain/values/client-request.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { parsed } from '../../../../shared/kit/text/issue-text.ts';

/** The tools of a request, and which of them the model may or has to call. Errors name the field. */

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object of responses; chat completions have all but its type in another object, under the name `inner`. */
const flattened = <T>(flat: z.ZodType<T, unknown>, inner: string) =>
  z.unknown().transform((given, context): T => {
    const nested = isObject(given) && isObject(given[inner]) ? given[inner] : undefined;
    const result = parsed(flat, nested ? { ...(given as Fields), ...nested } : given);
    if (result.success) return result.data;
    for (const { message, path } of result.error.issues)
      context.addIssue({ code: 'custom', message, path: nested && path[0] !== 'type' ? [inner, ...path] : [...path] });
    return z.NEVER;
  });

const functionTool = z.object({
  type: z.literal('function', 'only functions are taken: the agent has other tools of its own'),
  name: z.string('name the tool').regex(/^[\w-]{1,64}$/, 'use 1 to 64 letters, digits, "_" and "-"'),
  description: z.string('use a text').nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean('use true or false').nullish(),
});
const namedFunction = flattened(z.object({ type: z.literal('function'), name: z.string() }), 'function');
const allowedTools = flattened(
  z.object({ type: z.literal('allowed_tools'), mode: z.enum(['auto', 'required']), tools: z.array(namedFunction).min(1) }),
  'allowed_tools',
);

export const toolFields = {
  tools: z.array(flattened(functionTool, 'function'), 'use a list of tools').nullish(),
  tool_choice: z
    .union(
      [z.enum(['auto', 'none', 'required']), namedFunction, allowedTools],
      'use "auto", "none", "required", a function, or "allowed_tools" with a mode and functions',
    )
    .nullish(),
};
type Given = z.infer<z.ZodObject<typeof toolFields>>;

const invalid = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });

/** What the model is offered and told of it. Throws `NatterError('invalid')`. */
export const toolsIn = ({ tools: given, tool_choice: choice }: Given): Pick<ClientRequest, 'tools' | 'toolChoice'> => {
  const tools = toolsOf(given);
  if (choice === null || choice === undefined || choice === 'auto' || (choice === 'none' && tools.length === 0)) return { tools };
  if (choice === 'none') return { tools, toolChoice: choice };
  if (choice === 'required') {
    if (tools.length === 0) throw invalid('tool_choice', '"required" needs a tool to call; add "tools"');
    return { tools, toolChoice: choice };
  }
  const named = 'tools' in choice ? choice.tools.map(({ name }) => name) : [choice.name];
  for (const name of named)
    if (!tools.some((tool) => tool.name === name))
      throw invalid('tool_choice', `no tool ${JSON.stringify(name)}; name one of "tools"`);
  if (!('tools' in choice)) return { tools, toolChoice: { tool: choice.name } };
  // The others are not offered at all.
  const allowed = tools.filter(({ name }) => named.includes(name));
  return { tools: allowed, ...(choice.mode === 'required' && { toolChoice: choice.mode }) };
};

const toolsOf = (given: Given['tools']): ClientTool[] => {
  const names = new Set<string>();
  return (given ?? []).map(({ name, description, parameters, strict }, index) => {
    if (names.has(name)) throw invalid(`tools.${index}`, `a tool ${JSON.stringify(name)} is there already`);
    names.add(name);
    const text = JSON.stringify(parameters ?? { type: 'object', properties: {} });
    const isStrict = typeof strict === 'boolean' && { strict };
    return { name, ...(description && { description }), parameters: text, ...isStrict };
  });
};
