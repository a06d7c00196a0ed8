import { setMaxListeners } from 'node:events';
import type { Config } from '../../shared/domain/config/schema.ts';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { isLoopback } from '../../shared/kit/loopback.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Current } from '../../shared/runtime/config/reload.ts';
import type { Service } from '../../shared/runtime/service.ts';
import type { SkillLibrary } from '../../shared/runtime/skills/library.ts';
import { Access } from './access.ts';
import { AskedApprovals } from './approvals.ts';
import { Audit, system } from './audit.ts';
import { Callers } from './callers.ts';
import { OpenCalls } from './callers-open.ts';
import type { GatewayContext } from './context.ts';
import { EventFeed } from './event-feed.ts';
import { offeredSkills } from './mcp/skills.ts';
import { MemoryList } from './memory.ts';
import { GatewayMetrics } from './metrics.ts';
import { Places } from './places.ts';
import { Runs } from './runs.ts';
import { buildServer } from './server.ts';
import { SessionList } from './session-list.ts';
import { Tickets } from './tickets.ts';

export interface GatewayOptions {
  readonly config: Current<Config>;
  readonly ports: Ports;
  readonly log: Logger;
  /** The installation's own bearer token, which is the owner's; others are in `config.gateway.tokens`. */
  readonly token: string;
  readonly version: string;
  /** The agent's skills, as this process finds them. Default: none are offered. */
  readonly skills?: Pick<SkillLibrary, 'take'> | undefined;
  /** The other services of this process: their numbers are on the metrics page too. */
  readonly services?: () => readonly Service[];
}
export type Gateway = Service & { readonly url: string };

/** Throws `NatterError('invalid')` for an address others can reach, unless the operator says that is meant. */
export const refusePublicBind = ({ host, allowPublicBind }: Config['gateway']): void => {
  if (isLoopback(host) || allowPublicBind) return;
  throw new NatterError(
    'invalid',
    `gateway.host: ${host} can be reached from other machines without encryption; use 127.0.0.1, or put a TLS proxy in front and set gateway.allowPublicBind`,
    { field: 'gateway.host' },
  );
};

/**
 * Starts the door. It listens at once, whether the broker answers or not: `/readyz` tells, and calls get 503 until it does.
 * Throws `NatterError('invalid')` for a public address or a token that is not well described, `'unavailable'` when the port is taken.
 */
export const startGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const { ports, log, token, version } = options;
  const config = options.config.current();
  refusePublicBind(config.gateway);
  const callers = new Callers({
    ...{ tokens: ports.tokens, clock: ports.clock, log, ownToken: token },
    config: () => options.config.current(),
  });
  const openCalls = new OpenCalls(callers, ports.clock);
  const closing = new AbortController();
  // Streams, waits and sockets listen to it, as many as there are places.
  setMaxListeners(0, closing.signal);
  const approvals = new AskedApprovals();
  const feed = new EventFeed(ports.events, ports.clock, log, (commit) => approvals.take(commit));
  const sessions = new SessionList(ports, config.session.mainKey);
  const memory = new MemoryList(ports);
  const audit = new Audit({ log, clock: ports.clock, trail: ports.audit });
  const unfollow = options.config.changes?.((keys) =>
    audit.note('config_reloaded', system, { detail: { keys: keys.join(' ') } }),
  );
  const metrics = new GatewayMetrics({
    services: () => [service, ...(options.services?.().filter(({ name }) => name !== service.name) ?? [])],
    ports,
    awaiting: () => sessions.allAwaiting(),
  });
  const streams = new Places(
    { all: limits.streamClients, each: limits.streamClientsEach },
    'too many streams are open here; close some, or try again later',
  );
  const waits = new Places(
    { all: limits.waitingCalls, each: limits.waitingCallsEach },
    'too many calls wait here; call without "wait", or try again later',
  );
  const replays = new Places(
    { all: limits.replays, each: limits.replaysEach },
    'too many calls look into the past here; try again later',
  );
  const sockets = new Places(
    { all: limits.socketClients, each: limits.socketClientsEach },
    'too many WebSockets are open here; close some, or try again later',
  );
  const problems = () => [...ports.problems(), ...feed.problems(), ...sessions.problems(), ...callers.problems()];
  const context: GatewayContext = {
    ports,
    get config() {
      return options.config.current();
    },
    log,
    version,
    feed,
    sessions,
    memory,
    access: new Access(sessions, () => options.config.current()),
    callers,
    openCalls,
    tickets: new Tickets(ports.tokens, ports.clock, callers),
    audit,
    approvals,
    runs: new Runs(ports, feed),
    metrics,
    skills: options.skills && offeredSkills(options.skills, config.skills.entries, log),
    streams,
    waits,
    sockets,
    replays,
    closing: closing.signal,
    problems,
    warnings: () => (options.services?.() ?? []).flatMap(({ warnings }) => warnings?.() ?? []),
  };
  const server = buildServer(context);

  const close = async (): Promise<void> => {
    closing.abort();
    unfollow?.();
    await Promise.all([server.close(), feed.close(), sessions.close(), memory.close(), openCalls.close(), callers.close()]);
    await audit.close();
  };
  const service: Service = {
    name: 'gateway',
    problems,
    metrics: () => ({
      event_streams: streams.taken,
      waiting_calls: waits.taken,
      web_sockets: sockets.taken,
      feed_ready: feed.problems().length === 0 ? 1 : 0,
    }),
    stop: async (deadlineMs) => {
      const done = new AbortController();
      const cutOff = ports.clock.sleep(deadlineMs, done.signal).then(() => server.server.closeAllConnections());
      await Promise.race([close(), cutOff]);
      done.abort();
    },
  };

  try {
    const { host, port } = config.gateway;
    const url = await server.listen({ host, port });
    log.info({ url }, 'gateway listens');
    return { ...service, url };
  } catch (error) {
    await close();
    throw new NatterError('unavailable', `the gateway cannot listen: ${errorMessage(error)}; set gateway.port to a free one`, {
      cause: error,
    });
  }
};
