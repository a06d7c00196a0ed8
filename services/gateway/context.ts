import type { Config } from '../../shared/domain/config/schema.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Access } from './access.ts';
import type { AskedApprovals } from './approvals.ts';
import type { Audit } from './audit.ts';
import type { Callers } from './callers.ts';
import type { OpenCalls } from './callers-open.ts';
import type { EventFeed } from './event-feed.ts';
import type { OfferedSkills } from './mcp/skills.ts';
import type { MemoryList } from './memory.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Places } from './places.ts';
import type { Runs } from './runs.ts';
import type { SessionList } from './session-list.ts';
import type { Tickets } from './tickets.ts';

/** What the routes work with. */
export interface GatewayContext {
  readonly ports: Ports;
  /** As it is now; ask the context each time. */
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  readonly feed: EventFeed;
  readonly sessions: SessionList;
  readonly memory: MemoryList;
  readonly access: Access;
  readonly callers: Callers;
  readonly openCalls: OpenCalls;
  readonly tickets: Tickets;
  readonly audit: Audit;
  readonly approvals: AskedApprovals;
  readonly runs: Runs;
  readonly metrics: GatewayMetrics;
  /** For MCP clients of the owner. */
  readonly skills?: OfferedSkills | undefined;
  /** For event streams, for calls that wait, and for WebSockets. */
  readonly streams: Places;
  readonly waits: Places;
  readonly sockets: Places;
  /** For calls that fold a session's history. */
  readonly replays: Places;
  /** Aborted when the gateway stops: streams end, waits answer. */
  readonly closing: AbortSignal;
  /** Why the gateway is not ready; empty: it is. */
  problems(): readonly string[];
  /** What the other services of this process miss although they work. */
  warnings(): readonly string[];
}
