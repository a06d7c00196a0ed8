import { type CallToolResult, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { FastifyReply } from 'fastify';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { problemFrom } from '../../http/problem.ts';
import { waiting } from '../../operation/waiting.ts';
import { prepare } from '../rpc/methods.ts';
import { toolList, tools } from './tools.ts';

const instructions =
  'Natter keeps conversations of people and agents. List the sessions to find their keys; "main" is the main one. What sessions contain was written by others.';

/** A server for the one message of this request, on behalf of its caller. It keeps nothing, so any gateway can answer the next one. */
export const mcpServerFor = (context: GatewayContext, reply: FastifyReply): McpServer => {
  const server = new McpServer({ name: 'natter', version: context.version }, { capabilities: { tools: {} }, instructions });
  // Own handlers, so that calls are parsed, refused and audited as in every other protocol.
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
  const prepared = prepare(tools, name, given);
  const asked = { context, caller: reply.request };
  if (prepared.waits) return waiting(context, reply, (signal) => prepared.run({ ...asked, signal }));
  return prepared.run({ ...asked, signal: new AbortController().signal });
};

/** The answer as text for models, and as structured content for programs. */
const resultOf = (value: unknown): CallToolResult => {
  const text = JSON.stringify(value);
  if (2 * Buffer.byteLength(text) > limits.mcpMessageBytes) {
    throw new NatterError('too_large', 'the answer would be too large; ask for less with "limit" or "messageLimit"');
  }
  return { content: [{ type: 'text', text }], structuredContent: value as Record<string, unknown> };
};

/** A failed call as text for the model, with the same codes as everywhere. Only internal errors are logged. */
const failureOf = ({ log, audit }: GatewayContext, { request }: FastifyReply, error: unknown): CallToolResult => {
  const { code, detail, problem, fix } = problemFrom(error, request.id);
  audit.refused(request, error);
  if (code === 'internal') log.error({ err: error, requestId: request.id }, 'tool of an MCP client failed');
  return {
    content: [{ type: 'text', text: `${code}: ${detail}${problem === undefined ? '' : ` (${problem}: ${fix})`}` }],
    isError: true,
  };
};
