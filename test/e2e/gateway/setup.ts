import { request as httpRequest } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { pino } from 'pino';
import { type Gateway, startGateway } from '../../../services/gateway/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { afterwards } from '../../support/afterwards.ts';
import { type MiniHost, startMiniHost } from '../../support/mini-host.ts';

export const token = 'a-token-for-tests';
export const config = configSchema.parse({ gateway: { port: 0 } });

export { afterwards };

export type Memory = ReturnType<typeof openInMemory>;
export const openBroker = (clock: Clock = systemClock): Memory => openInMemory({ clock });

export const openGateway = async (ports: Ports, services: readonly Service[] = [], given: Config = config): Promise<Gateway> => {
  const log = pino({ level: 'silent' });
  const gateway = await startGateway({
    config: fixed(given),
    ports,
    log,
    token,
    version: '0.0.0-test',
    services: () => services,
  });
  afterwards(() => gateway.stop(1_000));
  return gateway;
};

export interface World {
  readonly memory: Memory;
  readonly ports: Ports;
  readonly gateway: Gateway;
  readonly host: MiniHost;
  readonly call: Call;
}
/** A gateway with a session host behind it, ready. */
export const startWorld = async (options: { clock?: Clock; index?: boolean; session?: object } = {}): Promise<World> => {
  const memory = openBroker(options.clock);
  const hostPorts = memory.portsFor('host');
  const host = await startMiniHost(hostPorts, options);
  afterwards(() => host.close());
  const ports = memory.portsFor('gateway');
  const { session = {} } = options;
  const gateway = await openGateway(ports, [], configSchema.parse({ ...config, session }));
  const call = callerOf(gateway.url);
  await ready(call);
  return { memory, ports, gateway, host, call };
};

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly body: any;
}
export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is. */
  readonly bytes?: Buffer | string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Calls with the path exactly as given: `fetch` would normalise it. */
export const callerOf =
  (url: string, bearer: string | null = token): Call =>
  (method, path, { body, bytes, headers = {}, signal } = {}) =>
    new Promise((resolve, reject) => {
      const payload = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
      const { hostname, port } = new URL(url);
      const request = httpRequest(
        {
          hostname,
          port,
          method,
          path,
          agent: false,
          ...(signal && { signal }),
          headers: {
            ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
            ...(payload !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const isJson = response.headers['content-type']?.includes('json');
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              body: isJson && text !== '' ? JSON.parse(text) : null,
            });
          });
        },
      );
      request.on('error', reject);
      request.end(payload);
    });

export const ready = async (call: Call): Promise<void> => {
  while ((await call('GET', '/readyz')).status !== 200) await systemClock.sleep(5);
};

export const pathOf = (key: string, rest = ''): string => `/v1/sessions/${encodeURIComponent(key)}${rest}`;

export interface Stream {
  readonly messages: EventSourceMessage[];
  readonly comments: string[];
  readonly status: number;
  close(): void;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
}
export const openStream = async (url: string, path: string, headers: Record<string, string> = {}): Promise<Stream> => {
  const controller = new AbortController();
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  });
  const messages: EventSourceMessage[] = [];
  const comments: string[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message), onComment: (comment) => comments.push(comment) });
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
  };
  const ended = read().catch(() => {});
  const close = () => controller.abort();
  afterwards(async () => close());
  return { messages, comments, status: response.status, close, ended };
};
