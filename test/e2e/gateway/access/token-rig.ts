import { vi } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { type MiniHost, startMiniHost } from '../../../support/mini-host.ts';
import {
  afterwards,
  type Call,
  callerOf,
  type Memory,
  openBroker,
  openGateway,
  openStream,
  ready,
  type Stream,
} from '../setup.ts';

/** Two replicas of the gateway over one broker, and what an administrator makes there. */
export interface Replicas {
  readonly memory: Memory;
  readonly host: MiniHost;
  readonly urls: readonly [string, string];
  /** The installation's own token, at the first replica. */
  readonly admin: Call;
  /** Makes a token; at the first replica unless said otherwise. */
  make(wanted: object, at?: 0 | 1): Promise<{ token: string; id: string }>;
  as(token: string | null, at?: 0 | 1): Call;
  stream(token: string, path: string, at?: 0 | 1): Promise<Stream>;
}

export const startReplicas = async (
  gateway: object = {},
  clock: Clock = systemClock,
  session: object = {},
): Promise<Replicas> => {
  const memory = openBroker(clock);
  const host = await startMiniHost(memory.portsFor('host'), {});
  afterwards(() => host.close());
  const config = configSchema.parse({ gateway: { port: 0, ...gateway }, session });
  const start = async (name: string) => (await openGateway(memory.portsFor(name), [], config)).url;
  const urls = [await start('one'), await start('two')] as const;
  const as = (token: string | null, at: 0 | 1 = 0): Call => callerOf(urls[at], token);
  const admin = callerOf(urls[0]);
  await Promise.all(urls.map((url) => ready(callerOf(url))));
  return {
    ...{ memory, host, urls, admin, as },
    make: async (wanted, at = 0) => (await callerOf(urls[at])('POST', '/v1/tokens', { body: wanted })).body,
    stream: (token, path, at = 0) => openStream(urls[at], path, { authorization: `Bearer ${token}` }),
  };
};

/** Waits until a call is answered with this status. */
export const untilStatus = (call: Call, status: number, path = '/v1/sessions') =>
  vi.waitFor(async () => {
    const answer = await call('GET', path);
    if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
    return answer;
  });

/** A clock whose wall time a test moves; what waits goes on by the machine's. */
export const movableClock = (): Clock & { advance(ms: number): void } => {
  let ahead = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    advance: (ms) => {
      ahead += ms;
    },
  };
};
