import type { Tool as Listed } from '@modelcontextprotocol/client';
import { limits } from '../../kit/limits.ts';
import { oneLine, question, quoted } from '../../kit/one-line.ts';
import { printable } from '../../kit/scrub.ts';
import type { Tool, ToolEnd } from '../../ports/tools.ts';
import { argumentsFault } from './arguments-fault.ts';
import { toolName } from './names.ts';

export type Call = (tool: string, given: Record<string, unknown>, signal: AbortSignal) => Promise<ToolEnd>;

/**
 * Turns a server's tool list into our tools. Its descriptions and hints are not trusted: each call needs approval unless the
 * operator's rules say otherwise, and a call with an unknown outcome is not repeated (I6). `left` lists the tools left out, with
 * the reason.
 */
export const offeredTools = (server: string, listed: readonly Listed[], call: Call): { tools: Tool[]; left: string[] } => {
  const tools = new Map<string, Tool>();
  const left: string[] = [];
  for (const each of listed.slice(0, limits.mcpTools)) {
    const tool = toolOf(server, each, call);
    const problem = problemOf(each) ?? (tools.has(tool.name) ? 'another tool has this name' : null);
    if (problem === null) tools.set(tool.name, tool);
    else left.push(`the tool ${quoted(each.name, 64)} is left out: ${problem}`);
  }
  if (listed.length > limits.mcpTools) left.push(`only ${limits.mcpTools} of ${listed.length} tools are offered`);
  return { tools: [...tools.values()], left };
};

const problemOf = ({ name, inputSchema }: Listed): string | null => {
  if (name === '' || name.length > limits.toolNameCharacters)
    return `its name must have 1 to ${limits.toolNameCharacters} characters`;
  if (Buffer.byteLength(JSON.stringify(inputSchema)) > limits.mcpSchemaBytes) {
    return `the schema of its arguments is longer than ${limits.mcpSchemaBytes} bytes`;
  }
  return null;
};

const toolOf = (server: string, { name, title, description, inputSchema }: Listed, call: Call): Tool => {
  const { $schema: _, ...parameters } = inputSchema;
  return {
    name: toolName(server, name),
    description: printable(description ?? title ?? name).slice(0, limits.mcpDescriptionCharacters),
    parameters,
    usual: 'ask',
    idempotent: false,
    describe: (given) =>
      question(`call ${quoted(name, 160)} of the MCP server ${server} with ${oneLine(JSON.stringify(given ?? {}), 1_200)}`),
    faultIn: (given) => argumentsFault(parameters, given ?? {}),
    run: async ({ arguments: given }, signal) =>
      isRecord(given) ? call(name, given, signal) : { outcome: 'error', text: 'wrong arguments: use an object' },
  };
};

const isRecord = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);
