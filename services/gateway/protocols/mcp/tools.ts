import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Tool } from '../../operation/operation.ts';
import { capabilities } from '../capabilities.ts';

/** What MCP clients are offered: the session tools (A10/100–121) and, for clients that watch and decide, events and approvals (A5/62). */

const offered = capabilities.flatMap(({ mcp }) => mcp ?? []);
const isSessionTool = ({ name }: Tool): boolean => name.startsWith('sessions_');

/** The tools by name. Clients list them in this order, those of sessions first. */
export const tools: Readonly<Record<string, Tool>> = Object.fromEntries(
  [...offered.filter(isSessionTool), ...offered.filter((tool) => !isSessionTool(tool))].map((tool) => [tool.name, tool]),
);

const schemaOf = (schema: z.ZodType, io: 'input' | 'output') =>
  ({ ...z.toJSONSchema(schema, { io }), type: 'object' }) as McpTool['inputSchema'];

/** The tools as MCP describes them. */
export const toolList: McpTool[] = Object.values(tools).map(({ name, description, annotations, parameters, result }) => ({
  ...{ name, description, annotations },
  inputSchema: schemaOf(parameters, 'input'),
  ...(result && { outputSchema: schemaOf(result, 'output') }),
}));
