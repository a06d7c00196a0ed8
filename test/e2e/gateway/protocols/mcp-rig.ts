import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as PreviousClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as PreviousStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as PreviousHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, vi } from 'vitest';
import type { GatewayRig } from '../access/access-rig.ts';
import { afterwards, pathOf } from '../setup.ts';

/** The official clients, unmodified: of the current protocol and of the previous one, over both transports. */

const program = fileURLToPath(new URL('../../../../dist/services/cli/main.js', import.meta.url));
const introduction = { name: 'test', version: '1' };
const current = { versionNegotiation: { mode: 'auto' } } as const;

const headersOf = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });
export const served = (url: string, token: string) => ({
  command: process.execPath,
  args: [program, 'mcp', 'serve', '--url', url],
  env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', NATTER_TOKEN: token },
});

const connect = async <C extends { connect(transport: T): Promise<void>; close(): Promise<void> }, T>(
  client: C,
  transport: T,
) => {
  await client.connect(transport);
  afterwards(() => client.close());
  return client;
};

export const overHttp = async (url: string, token: string, more: object = {}) => {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { ...headersOf(token), ...more });
  return connect(new Client(introduction, current), transport);
};
export const overHttpBefore = async (url: string, token: string, more: object = {}) => {
  const transport = new PreviousHttp(new URL(`${url}/mcp`), { ...headersOf(token), ...more });
  return connect(new PreviousClient(introduction), transport as never);
};
/** For a client that signs in with OAuth, and has not been here before. */
export const signingIn = () => ({
  authProvider: {
    ...{ redirectUrl: 'http://localhost/back', clientMetadata: { redirect_uris: ['http://localhost/back'] } },
    ...{ clientInformation: () => undefined, saveClientInformation: () => {}, tokens: () => undefined, saveTokens: () => {} },
    ...{ redirectToAuthorization: () => {}, saveCodeVerifier: () => {}, codeVerifier: () => '' },
  },
});
export const overStdio = async (url: string, token: string) =>
  connect(new Client(introduction, current), new StdioClientTransport(served(url, token)));
const overStdioBefore = async (url: string, token: string) =>
  connect(new PreviousClient(introduction), new PreviousStdio(served(url, token)) as never);

export type McpClient = Awaited<ReturnType<typeof overHttp | typeof overHttpBefore>>;
export const clients = {
  'the current client over HTTP': overHttp,
  'the previous client over HTTP': overHttpBefore,
  'the current client over stdio': overStdio,
  'the previous client over stdio': overStdioBefore,
} as const;

/** Calls a tool: what it answers, or the text of the error that it tells. */
export const use = async (client: McpClient, name: string, given: object = {}): Promise<any> => {
  const { content, structuredContent, isError } = (await client.callTool({
    name,
    arguments: given as Record<string, unknown>,
  })) as any;
  const { text } = content[0];
  if (isError) return text;
  if (JSON.stringify(structuredContent) !== text) throw new Error('the text is not what the structure says');
  return structuredContent;
};

/** Ann's session with the agent. */
export const direct = 'agent:main:telegram:default:dm:1';

/** A turn there that waits for a person. */
export const asked = async (
  { as, host, done, said }: GatewayRig,
  approvalId: string,
  approvers: string[] = [],
): Promise<void> => {
  host.hold();
  await said(direct, ['telegram:1'], approvalId);
  const body = { text: 'clean up', sender: { id: 'telegram:1' } };
  const { runId } = (await as.owner('POST', pathOf(direct, '/messages'), { body })).body;
  await vi.waitFor(() => expect(host.state(direct as never).machine.value).toBe('running'));
  const request = { approvalId, tool: 'exec', action: 'run rm -r build', expiresAt: 4e12, approvers };
  await done(direct, { type: 'request_approval', turn: { id: runId, attempt: 1 }, ...request });
};
