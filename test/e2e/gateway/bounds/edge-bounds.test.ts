import { describe, expect, test } from 'vitest';
import { operations } from '../../../../services/gateway/server/operations.ts';
import type { InboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { createRoute } from '../../../../shared/domain/routing/route.ts';
import { type CommandEnvelope, commandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { errorMessage } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { decodeCommand, encodeCommand } from '../../../../shared/wire/codec.ts';
import { onceForFile } from '../../../support/afterwards.ts';
import { configOf, openGateway } from '../access/access-rig.ts';
import { type EdgeInput, edges, without } from './edge-inputs.ts';
import { boundsIn, fieldsIn, fieldsOf, partsOf } from './grow.ts';

/**
 * What comes in from outside becomes a command that a session can read, or is refused by name where it came in: else it would be a dead
 * letter, and its caller would wait for an answer.
 */

/** Commands that no session could read, as they are sent. */
const unreadable: string[] = [];
const readable = (command: CommandEnvelope): void => {
  const bytes = encodeCommand(command);
  try {
    decodeCommand(bytes);
  } catch (error) {
    unreadable.push(`${command.data.type}: ${errorMessage(error)}`);
    throw error;
  }
};
const route = createRoute(configOf());
const routable = (envelope: InboundEnvelope): void => {
  const routed = route(envelope, Date.now());
  if ('unroutable' in routed) unreadable.push(`not routed: ${routed.unroutable}`);
  if ('command' in routed) readable(routed.command);
};
/** The gateway's ports; what it sends is read before it is sent. */
const watched = (ports: Ports): Ports => ({
  ...ports,
  commands: {
    ...ports.commands,
    publish: async (command) => {
      readable(command);
      return ports.commands.publish(command);
    },
    schedule: async (name, at, command) => {
      readable(command);
      return ports.commands.schedule(name, at, command);
    },
  },
  inbound: {
    ...ports.inbound,
    publish: async (envelope) => {
      const stored = await ports.inbound.publish(envelope);
      routable(envelope);
      return stored;
    },
  },
});
const gateway = onceForFile(async () => {
  const opened = await openGateway({ watched });
  // As if the memory were ahead of all that follows: nobody waits for it.
  await opened.hostPorts.memory.put({ entries: [], gone: [] }, 1e9);
  return opened;
});

/** The operation, method or tool of a title. */
const entryOf = (title: string) => {
  const [kind = '', name = kind] = (title.split(',')[0] ?? '').split(' ');
  return { kind: kind === name ? ('http' as const) : (kind as 'rpc' | 'mcp'), name };
};
const operationOf = (title: string) => {
  const { kind, name } = entryOf(title);
  const found = operations.find((one) => (kind === 'http' ? one.id : one[kind]?.name) === name);
  if (found === undefined) throw new Error(`there is no ${title}`);
  return found;
};
const schemasOf = (title: string) => {
  const { http, rpc, mcp } = operationOf(title);
  const { kind } = entryOf(title);
  const method = kind === 'rpc' ? rpc : mcp;
  return kind === 'http' ? { query: http?.query, body: http?.body } : { query: undefined, body: method?.parameters };
};

/** What became of an input: how it was answered, and the part that the answer calls wrong. */
interface Outcome {
  readonly status: number;
  readonly field: string;
}

const ask = async (title: string, { path = {}, query = {}, headers = {}, body }: EdgeInput): Promise<Outcome> => {
  const { kind, name } = entryOf(title);
  const { owner } = gateway().as;
  if (kind === 'rpc') {
    const answer = await owner('POST', '/v1/rpc', { body: { method: name, params: body } });
    return { status: answer.status, field: answer.body?.field ?? '' };
  }
  if (kind === 'mcp') {
    const params = { name, arguments: body };
    const accept = { accept: 'application/json, text/event-stream' };
    const answer = await owner('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      headers: accept,
    });
    const { isError = false, content = [] } = answer.body?.result ?? {};
    const [, code = '', field = ''] = /^(\w+): ([\w.-]+)/.exec(content[0]?.text ?? '') ?? [];
    return { status: isError ? (code === 'invalid' ? 400 : 404) : answer.status, field };
  }
  const { http } = operationOf(title);
  const address = Object.entries(path).reduce(
    (url, [part, value]) => url.replace(`:${part}`, encodeURIComponent(value)),
    http?.path ?? '',
  );
  const asked = new URLSearchParams(query as Record<string, string>).toString();
  const answer = await owner((http?.method ?? '').toUpperCase(), `${address}?${asked}`, {
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, encodeURIComponent(value)])),
    ...(body && { body }),
  });
  const field = answer.body?.field ?? answer.body?.error?.param ?? '';
  return { status: answer.status, field: String(field).replaceAll(/\[(\d+)\]/g, '.$1') };
};

const sortedOnce = (all: readonly number[]): number[] => [...new Set(all)].sort((one, other) => one - other);
/** Every bound that anything has, and one more. */
const lengths = (() => {
  const schemas = operations.flatMap(({ http, rpc, mcp }) => [http?.query, http?.body, rpc?.parameters, mcp?.parameters]);
  const bounds = [commandEnvelope, ...schemas].flatMap((schema) => (schema ? boundsIn(schema) : []));
  const most = limits.commandBytes;
  return sortedOnce([...bounds, 255, most - 1_024, most].flatMap((bound) => [bound, bound + 1])).filter(
    (size) => size <= most + 1,
  );
})();
const counts = lengths.filter((size) => size <= 129);
const numbers = [-1, 0, 0.5, 1e6, Number.MAX_SAFE_INTEGER, 1e300];

/** Parts by the names of others: as OpenAI's interface calls two, and two that a session's key has to agree with. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ id: 'conversation_id', instructions: 'input' },
  ...{ channel: 'sessionKey', agentId: 'sessionKey' },
};
/** A refusal names the part, what it is in, or what is in it. `body`: all of it together is too much. */
const names = ({ status, field }: Outcome, path: readonly string[]): boolean => {
  const own = path.slice(1);
  if (otherNames[own[0] ?? ''] === field || (field === 'body' && status === 413)) return true;
  return field !== '' && field.split('.').every((name, index) => index >= own.length || name === own[index]);
};

let sessions = 0;
/** A session in which something was said. */
const newSession = async (): Promise<string> => {
  sessions += 1;
  const key = `agent:main:irc:group:edge-${sessions}`;
  await gateway().said(key, ['irc:1'], 'x');
  return key;
};

/** Asks with one part of an input as long as wanted, in a session of its own. */
const asked = async (title: string, partAt: number, size: number) => {
  const part = partsOf(edges[title]?.(await newSession()))[partAt];
  const outcome = await ask(title, part?.grown(size) as EdgeInput);
  const [lost] = unreadable.splice(0);
  const isRefused = outcome.status === 400 || outcome.status === 413;
  const isClear = !isRefused || names(outcome, part?.path ?? []);
  const fault = lost ?? (outcome.status === 500 || !isClear ? `${outcome.status} ${outcome.field}` : undefined);
  return { isRefused, fault: fault && `${part?.path.join('.')} (${part?.kind} ${size}): ${fault}` };
};

/** The faults of a part: at the largest size that is not refused, and at the smallest that is. */
const faultsOf = async (title: string, partAt: number, sizes: readonly number[]): Promise<string[]> => {
  const faults: string[] = [];
  let [low, high] = [0, sizes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { isRefused, fault } = await asked(title, partAt, sizes[middle] ?? 0);
    if (fault !== undefined) faults.push(fault);
    if (isRefused) high = middle;
    else low = middle + 1;
  }
  return faults;
};

describe('an input that is too long somewhere is refused by name, or becomes a command that a session can read', () => {
  test.each(Object.keys(edges))(
    '%s',
    async (title) => {
      const faults: string[] = [];
      const parts = partsOf(edges[title]?.('agent:main:irc:group:x'));
      for (const [index, { kind }] of parts.entries()) {
        if (kind === 'number') for (const number of numbers) faults.push((await asked(title, index, number)).fault ?? '');
        else faults.push(...(await faultsOf(title, index, kind === 'text' ? lengths : counts)));
      }
      expect(faults.filter((fault) => fault !== '')).toEqual([]);
    },
    60_000,
  );
});

test('an input as it is meant is accepted', async () => {
  const refused: string[] = [];
  for (const [title, inputFor] of Object.entries(edges)) {
    const { status, field } = await ask(title, inputFor(await newSession()));
    if ([400, 413, 500].includes(status)) refused.push(`${title}: ${status} ${field}`);
  }
  expect(refused).toEqual([]);
});

test('every operation, method and tool that changes something is there, with every field that it takes', () => {
  const titles = operations
    .filter(({ changes }) => changes !== 'nothing')
    .flatMap(({ id, http, rpc, mcp }) => [
      ...(http ? [id] : []),
      ...(rpc ? [`rpc ${rpc.name}`] : []),
      ...(mcp ? [`mcp ${mcp.name}`] : []),
    ]);
  const there = new Map<string, EdgeInput[]>();
  for (const [title, inputFor] of Object.entries(edges)) {
    const name = title.split(',')[0] ?? '';
    there.set(name, [...(there.get(name) ?? []), inputFor('x')]);
  }
  expect([...there.keys(), ...Object.keys(without)].sort()).toEqual(titles.sort());
  const missing = [...there].flatMap(([title, inputs]) => {
    const { query, body } = schemasOf(title);
    const given = new Set(inputs.flatMap((input) => [...fieldsOf(input.query), ...fieldsOf(input.body)]));
    const taken = [query, body].flatMap((schema) => (schema ? fieldsIn(schema) : []));
    return taken.filter((field) => !given.has(field)).map((field) => `${title}: ${field}`);
  });
  expect(missing).toEqual([]);
});
