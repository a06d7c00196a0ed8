import { expect, vi } from 'vitest';
import { problemStatus } from '../../../../services/gateway/http/problem.ts';
import { callerOf, openStream } from '../setup.ts';
import { connect, knock, opened } from '../websocket/websocket-client.ts';
import { bytesOf, type GatewayRig, secretOf } from './access-rig.ts';
import { type Place, soon } from './access-world.ts';

/** The interfaces by which the access matrix asks: HTTP, event streams, WebSockets and MCP. What is heard is told alike of all. */

/** `code`: what a refusal is called. `bytes`: a refusal as its caller reads it, but for what is the call's own. */
export interface Heard {
  readonly status: number;
  readonly body: any;
  readonly code?: string | undefined;
  readonly bytes: string;
}
/** Asks on behalf of whoever bears the token; `null`: nobody. */
export type Ask = (gateway: GatewayRig, bearer: string | null, place: Place) => Promise<Heard>;

/** What a call takes, of whatever it is about. */
export type Given = (place: Place) => object;
const nothing: Given = () => ({});

/** JSON, or that of a stream's first event. */
const bodyIn = ({ body, text }: { body: any; text: string }): any =>
  body ?? JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? 'null');
const codeIn = (body: any): string | undefined => {
  const code = body?.code ?? body?.error?.code;
  // JSON-RPC's are numbers, and its own.
  return typeof code === 'string' ? code : undefined;
};
const refusal = (code: string, words: unknown): Heard => ({
  status: (problemStatus as Record<string, number>)[code] ?? 0,
  body: null,
  code,
  bytes: JSON.stringify(words),
});

/** By the route that the title begins with. */
export const byHttp =
  (title: string, { given = nothing, query = '', id = ({ id }: Place) => id, headers = nothing }: Http = {}): Ask =>
  async ({ url }, bearer, place) => {
    const [method = '', address = ''] = title.split(',')[0]?.split(' ') ?? [];
    const path = address.replace('*', '/natter').replace(':key', encodeURIComponent(place.key)).replace(/:\w+/, id(place));
    const body = 'POST PATCH'.includes(method) ? { body: given(place) } : {};
    const asked = typeof query === 'string' ? query : query(place);
    const answer = await callerOf(url, bearer)(method, path + asked, { ...body, headers: { ...headers(place) } });
    const heard = bodyIn(answer);
    return { status: answer.status, body: heard, code: answer.status < 400 ? undefined : codeIn(heard), bytes: bytesOf(answer) };
  };
export interface Http {
  readonly given?: Given;
  readonly query?: string | ((place: Place) => string);
  /** What stands in the address for whatever is no session. */
  readonly id?: (place: Place) => string;
  readonly headers?: Given;
}

/** A stream of events, left as soon as it begins. */
export const byStream =
  (pathFor: (place: Place) => string): Ask =>
  async ({ url }, bearer, place) => {
    const leave = new AbortController();
    const authorization: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
    const headers = { accept: 'text/event-stream', ...authorization };
    const response = await fetch(url + pathFor(place), { headers, signal: leave.signal });
    const text = response.ok ? '' : await response.text();
    leave.abort();
    const body = text === '' ? null : JSON.parse(text);
    return { status: response.status, body, code: codeIn(body), bytes: JSON.stringify({ ...body, requestId: '' }) };
  };

/** How far somebody has come in the log, by the last id they were told. */
const reached = (id = '0'): number => Number.parseInt(id, 10);
/** Waits until somebody who sees all has been told all. */
const untilAll = async ({ ports }: GatewayRig, lastOf: () => string | undefined): Promise<void> => {
  const { lastSeq } = await ports.events.info();
  await vi.waitFor(() => expect(reached(lastOf())).toBe(lastSeq), soon);
};

/** What a stream of all events has told by the time that it has told the owner all. */
export const allByStream: Ask = async (gateway, bearer, place) => {
  const path = '/v1/events?after=0';
  if (bearer === null) return byStream(() => path)(gateway, bearer, place);
  const open = (token: string) => openStream(gateway.url, path, { authorization: `Bearer ${token}` });
  const [told, all] = [await open(bearer), await open(secretOf('owner'))];
  await untilAll(gateway, () => all.messages.at(-1)?.id);
  for (const stream of [told, all]) stream.close();
  return { status: told.status, body: { events: told.messages.map(({ data }) => JSON.parse(data)) }, bytes: '' };
};
export const allBySocket: Ask = async (gateway, bearer, place) => {
  if (bearer === null) return bySocket('subscribe')(gateway, bearer, place);
  const [told, all] = [await connect(gateway.url, bearer), await connect(gateway.url, secretOf('owner'))];
  for (const client of [told, all]) await client.call('subscribe', { after: '0' });
  await untilAll(gateway, () => all.ids().at(-1));
  for (const { socket } of [told, all]) socket.terminate();
  const events = told.frames.filter(({ type }) => type === 'event').map(({ event }) => event);
  return { status: 200, body: { events }, bytes: '' };
};

/** A ticket for the session's stream, and the stream that it opens. */
export const byTicket = (pathFor: (place: Place) => string): Ask => {
  const ask = byHttp('POST /v1/tickets', { given: (place) => ({ path: pathFor(place) }) });
  return async (gateway, bearer, place) => {
    const heard = await ask(gateway, bearer, place);
    if (heard.status !== 201) return heard;
    return byStream((of) => `${pathFor(of)}?ticket=${heard.body.ticket}`)(gateway, null, place);
  };
};

export const byRpc = (method: string, given: Given = nothing): Ask => {
  const ask = byHttp('POST /v1/rpc', { given: (place) => ({ method, params: given(place) }) });
  return async (gateway, bearer, place) => {
    const heard = await ask(gateway, bearer, place);
    return { ...heard, body: heard.body?.result ?? heard.body };
  };
};

export const bySocket =
  (method: string, given: Given = nothing): Ask =>
  async ({ url }, bearer, place) => {
    if (bearer === null) return unknown(url, method);
    const client = await connect(url, bearer);
    const { ok, result, error } = await client.call(method, given(place));
    client.socket.terminate();
    return ok ? { status: 200, body: result, bytes: '' } : refusal(error.code, { ...error, requestId: '' });
  };

/** What a connection hears that shows no token. */
const unknown = async (url: string, method: string): Promise<Heard> => {
  const client = knock(url);
  await opened(client);
  client.send({ type: 'req', id: 1, method });
  const { code, reason } = await client.closed;
  return code === 4401 ? refusal('unauthorized', reason) : refusal('internal', [code, reason]);
};

/** The protocol's plain requests: what its official clients make of them is tested in `mcp.test.ts`. */
export const byMcp = (method: string, params: Given = nothing): Ask => {
  const headers = () => ({ accept: 'application/json, text/event-stream' });
  const ask = byHttp('POST /mcp', { given: (place) => ({ jsonrpc: '2.0', id: 1, method, params: params(place) }), headers });
  return async (gateway, bearer, place) => {
    const heard = await ask(gateway, bearer, place);
    if (heard.status !== 200) return heard;
    const { content, structuredContent, isError, ...result } = heard.body.result;
    if (!isError) return { ...heard, body: structuredContent ?? result };
    const [{ text }] = content;
    return refusal(text.split(':', 1)[0], text);
  };
};
export const byTool = (name: string, given: Given = nothing): Ask =>
  byMcp('tools/call', (place) => ({ name, arguments: given(place) }));
