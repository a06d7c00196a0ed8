import { type CallToolResult, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { FastifyReply } from 'fastify';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { GatewayContext } from '../context.ts';
import { problemFrom } from '../problem.ts';
import { prepare } from '../rpc.ts';
import { waiting } from '../waiting.ts';
import { toolList, tools } from './tools.ts';

const instructions =
  'Natter keeps conversations of people and agents. List the sessions to find their keys; "main" is the main one. What sessions contain was written by others.';

/** A server for the one message that this request brings, on behalf of its caller: nothing of it is kept, so any gateway answers the next. */
export const mcpServerFor = (context: GatewayContext, reply: FastifyReply): McpServer => {
  const server = new McpServer({ name: 'natter', version: context.version }, { capabilities: { tools: {} }, instructions });
  // Handlers of our own: a call is understood, refused and told of as at every other door.
  server.server.setRequestHandler('tools/list', () => ({ tools: toolList }));
  server.server.setRequestHandler('tools/call', async ({ params }) => {
    if (!Object.hasOwn(tools, params.name)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${JSON.stringify(params.name)}`);
    }
    try {
      return resultOf(await call(context, reply, params.name, params.arguments ?? {}));
    } catch (error) {
      return failureOf(context, reply, error);
    }
  });
  if (reply.request.principal.role === 'owner') context.skills?.attach(server);
  return server;
};

const call = async (context: GatewayContext, reply: FastifyReply, name: string, given: unknown): Promise<unknown> => {
  // Without the broker nothing can be promised: better said at once than after a long wait.
  const [problem] = context.ports.problems();
  if (problem !== undefined) throw new NatterError('unavailable', problem);
  const prepared = prepare(tools, name, given);
  const asked = { context, asker: reply.request };
  if (prepared.waits) return waiting(context, reply, (signal) => prepared.run({ ...asked, signal }));
  return prepared.run({ ...asked, signal: new AbortController().signal });
};

/** The answer as a text for models, and as it is for programs. */
const resultOf = (value: unknown): CallToolResult => {
  const text = JSON.stringify(value);
  if (2 * Buffer.byteLength(text) > limits.mcpMessageBytes) {
    throw new NatterError('too_large', 'the answer would be too large; ask for less with "limit" or "messageLimit"');
  }
  return { content: [{ type: 'text', text }], structuredContent: value as Record<string, unknown> };
};

/** What goes wrong with a call is for the model to read, with the same codes as everywhere. Only an error of ours is logged. */
const failureOf = ({ log, audit }: GatewayContext, { request }: FastifyReply, error: unknown): CallToolResult => {
  const { code, detail } = problemFrom(error, request.id);
  audit.refused(request, error);
  if (code === 'internal') log.error({ err: error, requestId: request.id }, 'tool of an MCP client failed');
  return { content: [{ type: 'text', text: `${code}: ${detail}` }], isError: true };
};
