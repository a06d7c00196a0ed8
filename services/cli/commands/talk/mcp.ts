import type { Readable, Writable } from 'node:stream';
import { Client, ProtocolError, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import { errorMessage } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, gatewayOf } from '../../access.ts';
import { example } from '../../example.ts';
import type { World } from '../../terminal.ts';

/** A call may wait as long as the gateway allows. */
const timeout = (limits.waitSeconds + 10) * 1_000;

/** For a person who tries it by hand: a program would speak now. */
const onTerminal = `Waiting for an MCP client on standard input. Programs start this command themselves; give them "natter mcp serve".
Ctrl-C to stop.`;

/** `natter mcp serve`: the gateway's `/mcp` for MCP clients that start a program and use its standard input and output. */
export const mcpCommand = (program: Command, world: World): void => {
  program
    .command('mcp')
    .addHelpText('after', example('mcp serve'))
    .command('serve')
    .description('serve the tools of the gateway over standard input and output')
    .addHelpText('after', example('mcp serve --url https://natter.example.com --token-file token'))
    .action(async (_: unknown, command: Command) => {
      const common = command.optsWithGlobals<CommonOptions>();
      // A wrong address or token fails here, with the same message as in any other command.
      await clientOf(world, common).post('/v1/rpc', { method: 'status' });
      const { url, token } = gatewayOf(world, common);
      const gateway = new Client(
        { name: 'natter mcp serve', version: world.version },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      const headers = { authorization: `Bearer ${token}` };
      const address = new URL('mcp', url.endsWith('/') ? url : `${url}/`);
      await gateway.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
      if (world.terminal.interactive) world.terminal.note(onTerminal);
      await served(world, gateway);
      await gateway.close();
    });
};

/** Serves the gateway's tools until the client disconnects or the user interrupts. */
const served = (world: World, gateway: Client): Promise<void> =>
  new Promise((resolve) => {
    const transport = new StdioServerTransport(world.input as Readable, world.output as Writable, {
      maxBufferSize: limits.mcpMessageBytes,
    });
    const { close } = serveStdio(() => proxyOf(world, gateway), {
      transport,
      onerror: (error) => world.terminal.note(errorMessage(error)),
    });
    const onServerClose = transport.onclose;
    transport.onclose = () => {
      onServerClose?.();
      resolve();
    };
    world.interrupted.addEventListener('abort', () => void close());
  });

/** A server of either protocol version that passes each call on to the gateway unchanged. */
const proxyOf = (world: World, gateway: Client): McpServer => {
  const instructions = gateway.getInstructions();
  const proxy = new McpServer(
    { name: 'natter', version: world.version },
    { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
  );
  proxy.server.setRequestHandler('tools/list', () => gateway.listTools());
  proxy.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    try {
      return await gateway.callTool(params, { timeout, signal: mcpReq.signal });
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return { content: [{ type: 'text', text: failureText(error) }], isError: true } satisfies CallToolResult;
    }
  });
  return proxy;
};

/** Why the gateway refused a call: its problem, or that there was no answer. */
const failureText = (error: unknown): string => {
  if (!(error instanceof SdkHttpError)) return `unreachable: ${errorMessage(error)}`;
  try {
    const { code, detail } = JSON.parse(String(error.data.text)) as { code: string; detail: string };
    return `${code}: ${detail}`;
  } catch {
    return `unreachable: the gateway answered ${error.status}`;
  }
};
