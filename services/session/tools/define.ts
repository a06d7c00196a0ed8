import { z } from 'zod';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { oneLine, question, questionCharacters, quoted } from '../../../shared/kit/one-line.ts';
import type { Tool, ToolEnd, ToolRun } from '../../../shared/ports/tools.ts';

/** The definition of a tool: the schema of its arguments and the work it does with them. */
export interface ToolDefinition<S extends z.ZodObject>
  extends Pick<Tool, 'name' | 'description' | 'idempotent' | 'readsOnly' | 'usual' | 'openToAll' | 'onceOnly' | 'timeoutMs'> {
  readonly input: S;
  /** What a call would do, in words for the approver. */
  line(input: z.output<S>): string;
  /** A returned text is a success. A thrown error becomes the call's error result. */
  act(input: z.output<S>, run: ToolRun, signal: AbortSignal): Promise<string | ToolEnd>;
}

export const defineTool = <S extends z.ZodObject>({ input, line, act, ...tool }: ToolDefinition<S>): Tool => ({
  ...tool,
  parameters: parametersOf(input),
  describe: (given) => {
    const result = input.safeParse(given);
    return question(result.success ? line(result.data) : `${tool.name}, which will fail: ${problemOf(result.error)}`);
  },
  faultIn: (given) => {
    const { error } = input.safeParse(given);
    return error === undefined ? null : faultText(error);
  },
  run: async (run, signal) => {
    const result = input.safeParse(run.arguments);
    if (!result.success) return { outcome: 'error', text: faultText(result.error) };
    try {
      const end = await act(result.data, run, signal);
      signal.throwIfAborted();
      return typeof end === 'string' ? { outcome: 'ok', text: end } : end;
    } catch (error) {
      signal.throwIfAborted();
      return { outcome: 'error', text: oneLine(errorMessage(error), questionCharacters) };
    }
  },
});

/** The arguments as a JSON schema. It lists the fields and refuses others. */
const parametersOf = (input: z.ZodObject): Tool['parameters'] => {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: 'input' });
  return parameters;
};

const faultText = (error: z.ZodError): string => `wrong arguments: ${problemOf(error)}`;

/** The first three invalid fields, each with its problem. */
const problemOf = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 3)
    .map((issue) => {
      const path = issue.path.map(String).join('.');
      if (issue.code !== 'unrecognized_keys') return `${path === '' ? 'the arguments' : path}: ${oneLine(issue.message)}`;
      return `${quoted(issue.keys[0] ?? '', 80)} is not an argument of this tool; leave it out`;
    })
    .join('; ');
