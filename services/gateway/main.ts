import { setMaxListeners } from 'node:events';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../shared/domain/config/schema.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { HealthProblem } from '../../shared/kit/health-problem.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { isLoopback } from '../../shared/kit/loopback.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Embeddings } from '../../shared/ports/models/embeddings.ts';
import type { TextIndex } from '../../shared/ports/search/text-index.ts';
import type { Current } from '../../shared/runtime/config/reload.ts';
import { PairingDecisions } from '../../shared/runtime/pairing-decisions.ts';
import type { Service } from '../../shared/runtime/service.ts';
import type { SkillLibrary } from '../../shared/runtime/skills/library.ts';
import { KeptMetrics } from '../../shared/runtime/telemetry/kept-metrics.ts';
import { Access } from './context/access.ts';
import { Audit, system } from './context/audit.ts';
import { Callers } from './context/callers.ts';
import { EventFeed } from './context/event-feed.ts';
import { EventFrames } from './context/event-frames.ts';
import type { GatewayContext, Insight } from './context/gateway-context.ts';
import { LoginCodes } from './context/login-codes.ts';
import { MemoryList } from './context/memory-list.ts';
import { GatewayMetrics } from './context/metrics.ts';
import { NewSessions } from './context/new-sessions.ts';
import { offeredSkills } from './context/offered-skills.ts';
import { OpenCalls } from './context/open-calls.ts';
import { RecentApprovals } from './context/recent-approvals.ts';
import { Runs } from './context/runs.ts';
import { SessionList } from './context/session-list.ts';
import { Tickets } from './context/tickets.ts';
import { ConcurrencyQuota } from './http/concurrency-quota.ts';
import { plainFrame, sseFrame } from './http/sse.ts';
import { type FoundMessage, MessageSearch } from './search/message-search.ts';
import { cannotListen, refuseTakenPort } from './server/listen.ts';
import { buildServer } from './server/server.ts';
import { ReadMarkList } from './unread/read-mark-list.ts';

export type { Insight } from './context/gateway-context.ts';
export { isOwnName, notOwnName } from './server/origin.ts';
export { refuseTakenPort };

export interface GatewayOptions {
  readonly config: Current<Config>;
  readonly ports: Ports;
  readonly log: Logger;
  /** The installation's own bearer token, which is the owner's; others are in `config.gateway.tokens`. */
  readonly token: string;
  readonly version: string;
  /** The agent's skills, as this process finds them. Default: none are offered. */
  readonly skills?: Pick<SkillLibrary, 'take' | 'explain'> | undefined;
  /** Default: none, and calls for embeddings are refused. */
  readonly embeddings?: Embeddings | undefined;
  /** Default: where the configuration is from is not known, and the log is empty. */
  readonly insight?: Insight;
  /** The other services of this process: their numbers are on the metrics page too. */
  readonly services?: () => readonly Service[];
}
export type Gateway = Service & { readonly url: string };

/** Throws `NatterError('invalid')` for an address that others can reach, unless the operator allows that. */
export const refusePublicBind = ({ host, allowPublicBind }: Config['gateway']): void => {
  if (isLoopback(host) || allowPublicBind) return;
  throw new NatterError(
    'invalid',
    `gateway.host: ${host} can be reached from other machines without encryption; use 127.0.0.1, or put a TLS proxy in front and set gateway.allowPublicBind`,
    { field: 'gateway.host' },
  );
};

/** What callers may keep open at once. */
const createQuotas = () => ({
  streams: new ConcurrencyQuota(
    { all: limits.streamClients, each: limits.streamClientsEach },
    'too many streams are open here; close some, or try again later',
  ),
  waits: new ConcurrencyQuota(
    { all: limits.waitingCalls, each: limits.waitingCallsEach },
    'too many calls wait here; call without "wait", or try again later',
  ),
  uploads: new ConcurrencyQuota(
    { all: limits.uploadBytes, each: limits.uploadBytesEach },
    'body: too many files are on their way here at once; send this again in a moment',
  ),
  replays: new ConcurrencyQuota(
    { all: limits.replays, each: limits.replaysEach },
    'too many calls look into the past here; try again later',
  ),
  sockets: new ConcurrencyQuota(
    { all: limits.socketClients, each: limits.socketClientsEach },
    'too many WebSockets are open here; close some, or try again later',
  ),
});

/** An empty index of messages. The database is loaded only when something is searched. */
const openSearchIndex = async (): Promise<TextIndex<FoundMessage>> => {
  const { SearchIndex } = await import('../../shared/adapters/kv/memory/memory-search-index.ts');
  return new SearchIndex<FoundMessage>();
};

/** What follows the log, the index, the memory and the tokens until it is closed. */
const openFollowers = ({ config, ports, log, token: ownToken }: GatewayOptions) => {
  const { clock, tokens } = ports;
  const callers = new Callers({ tokens, clock, log, ownToken, config: () => config.current() });
  const approvals = new RecentApprovals();
  const sessions = new SessionList(ports, config.current().session.mainKey);
  const take = (commit: RecordedCommit): void => {
    approvals.take(commit);
    sessions.take(commit);
  };
  const feed = new EventFeed(ports.events, clock, log, take);
  return {
    ...{ callers, approvals, sessions, feed },
    openCalls: new OpenCalls(callers, clock),
    search: new MessageSearch(feed, clock, openSearchIndex),
    memory: new MemoryList(ports),
    readMarks: new ReadMarkList(ports),
    audit: new Audit({ log, clock, trail: ports.audit }),
  };
};
type Followers = ReturnType<typeof openFollowers>;

interface ContextParts {
  readonly followers: Followers;
  readonly closing: AbortSignal;
  /** Of this process, the gateway itself among them. */
  services(): readonly Service[];
}

const createContext = (options: GatewayOptions, { followers, closing, services }: ContextParts): GatewayContext => {
  const { config, ports, log, version, skills, embeddings, insight } = options;
  const { callers, feed, sessions } = followers;
  const current = () => config.current();
  const metrics = new GatewayMetrics({ services, ports, awaiting: () => sessions.allAwaiting() });
  return {
    ...followers,
    ...createQuotas(),
    ...{ ports, log, version, closing, embeddings, insight, library: skills },
    get config() {
      return current();
    },
    sseFrames: new EventFrames(sseFrame),
    plainFrames: new EventFrames(plainFrame),
    access: new Access(sessions, current),
    newSessions: new NewSessions(sessions, ports.clock, () => current().gateway.newSessionsPerHour),
    tickets: new Tickets(ports.tokens, ports.clock, callers),
    loginCodes: new LoginCodes(ports.tokens, ports.clock, callers),
    pairing: new PairingDecisions(ports),
    runs: new Runs(ports, feed),
    metrics,
    keptMetrics: new KeptMetrics({ clock: ports.clock, text: () => metrics.text() }),
    skills: skills && offeredSkills(skills, current().skills.entries, log),
    problems: () => services().flatMap((service) => service.problems()),
    warnings: () => (options.services?.() ?? []).flatMap(({ warnings }) => warnings?.() ?? []),
  };
};

/** Stops serving, then what the answers were made from, and last the audit trail, which notes how calls ended. */
const closeAll = async (server: FastifyInstance, followers: Followers): Promise<void> => {
  const { feed, sessions, memory, readMarks, search, openCalls, callers, audit } = followers;
  await Promise.all([server.close(), feed.close(), sessions.close(), memory.close()]);
  await Promise.all([search.close(), openCalls.close(), callers.close(), readMarks.close()]);
  await audit.close();
};

const serviceOf = (context: GatewayContext, server: FastifyInstance, close: () => Promise<void>): Service => {
  const { streams, waits, sockets, feed, sessions, callers, ports, closing } = context;
  return {
    name: 'gateway',
    problems: () =>
      closing.aborted
        ? [new HealthProblem('stopping', 'the gateway is stopping')]
        : [...ports.problems(), ...feed.problems(), ...sessions.problems(), ...callers.problems()],
    metrics: () => ({
      event_streams: streams.inUse,
      waiting_calls: waits.inUse,
      web_sockets: sockets.inUse,
      feed_ready: feed.problems().length === 0 ? 1 : 0,
      damaged_commits_total: feed.damaged,
    }),
    stop: async (deadlineMs) => {
      const done = new AbortController();
      const cutOff = ports.clock.sleep(deadlineMs, done.signal).then(() => server.server.closeAllConnections());
      await Promise.race([close(), cutOff]);
      done.abort();
    },
  };
};

/**
 * Starts the gateway. It listens at once, whether the broker answers or not: `/readyz` tells, and calls get 503 until it does.
 * Throws `NatterError('invalid')` for a public address or a token that is not well described, `'unavailable'` when the port is taken.
 */
export const startGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const { config, log, services = () => [] } = options;
  const { gateway: address } = config.current();
  refusePublicBind(address);
  const closing = new AbortController();
  // Streams, waits and sockets listen to it, as many as the quotas allow.
  setMaxListeners(0, closing.signal);
  const followers = openFollowers(options);
  const unfollow = config.changes?.((keys) =>
    followers.audit.note('config_reloaded', system, { detail: { keys: keys.join(' ') } }),
  );
  const context = createContext(options, {
    followers,
    closing: closing.signal,
    services: () => [service, ...services().filter(({ name }) => name !== service.name)],
  });
  const server = buildServer(context);
  const close = async (): Promise<void> => {
    closing.abort();
    unfollow?.();
    await closeAll(server, followers);
  };
  const service = serviceOf(context, server, close);

  try {
    const url = await server.listen({ host: address.host, port: address.port });
    void context.keptMetrics.keep(closing.signal);
    log.info({ url }, 'gateway listens');
    return { ...service, url };
  } catch (error) {
    await close();
    throw cannotListen(address, error);
  }
};
