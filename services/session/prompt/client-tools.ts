import type { TurnView } from '../../../shared/domain/prompt/conversation-message.ts';
import type { ToolSpec } from '../../../shared/domain/prompt/model-request.ts';
import type { ClientTool, ModelSettings } from '../../../shared/domain/values/client-request.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import type { Tool } from '../../../shared/ports/tools.ts';

/** Tools that the program brings which sent the message: the model sees them, and the program runs them (ADR 26). */

const specs = new WeakMap<ClientTool, ToolSpec>();

/** Made once, because a tool's size is counted once. */
const specOf = (tool: ClientTool): ToolSpec => {
  const { name, description = '', parameters, strict } = tool;
  const spec = specs.get(tool) ?? { name, description, parameters: JSON.parse(parameters), strict };
  specs.set(tool, spec);
  return spec;
};

type Asked = Pick<TurnView, 'client' | 'asksAnew'>;

export const clientToolsOf = ({ client }: Pick<TurnView, 'client'>): readonly ToolSpec[] => (client?.tools ?? []).map(specOf);

export const isClientTool = ({ client }: Pick<TurnView, 'client'>, name: string): boolean =>
  client?.tools?.some((tool) => tool.name === name) === true;

/**
 * What the next step is given: the agent's tools and the program's, and the program's settings. Its choice of a tool is for the first step after
 * it asked: a choice that stayed would force the call again and again. A forced call is one of its own tools.
 */
export const offeredToModel = (
  { client, asksAnew }: Asked,
  tools: readonly ToolSpec[],
): { readonly tools: readonly ToolSpec[]; readonly settings?: ModelSettings } => {
  if (client === undefined) return { tools };
  const { tools: _, toolChoice: wanted, ...settings } = client;
  const own = clientToolsOf({ client });
  const choice = asksAnew ? wanted : undefined;
  if (choice === undefined) return { tools: [...tools, ...own], settings };
  return choice === 'none' ? { tools, settings } : { tools: own, settings: { ...settings, toolChoice: choice } };
};

/** The step that fails because a tool of the program is called like one of the agent's: calls could not be told apart. */
export const nameTaken = ({ view, known }: { readonly view: Asked; readonly known: readonly Tool[] }): StepOutcome | null => {
  const taken = known.find(({ name }) => view.asksAnew && isClientTool(view, name));
  if (taken === undefined) return null;
  return {
    kind: 'failed',
    code: 'tool_name_taken',
    message: `tools: the agent has a tool "${taken.name}" of its own; rename yours`,
  };
};
