import type { Config } from '../../../shared/domain/config/schema.ts';
import type { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Embeddings } from '../../../shared/ports/models/embeddings.ts';
import type { ConfigSource } from '../../../shared/runtime/config/load.ts';
import type { PairingDecisions } from '../../../shared/runtime/pairing-decisions.ts';
import type { RecentLog } from '../../../shared/runtime/recent-log.ts';
import type { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import type { KeptMetrics } from '../../../shared/runtime/telemetry/kept-metrics.ts';
import type { ConcurrencyQuota } from '../http/concurrency-quota.ts';
import type { MessageSearch } from '../search/message-search.ts';
import type { ReadMarkList } from '../unread/read-mark-list.ts';
import type { Access } from './access.ts';
import type { Audit } from './audit.ts';
import type { Callers } from './callers.ts';
import type { EventFeed } from './event-feed.ts';
import type { EventFrames } from './event-frames.ts';
import type { LoginCodes } from './login-codes.ts';
import type { MemoryList } from './memory-list.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { NewSessions } from './new-sessions.ts';
import type { OfferedSkills } from './offered-skills.ts';
import type { OpenCalls } from './open-calls.ts';
import type { RecentApprovals } from './recent-approvals.ts';
import type { Runs } from './runs.ts';
import type { SessionList } from './session-list.ts';
import type { Tickets } from './tickets.ts';

/** What the owner may look at of this process. */
export interface Insight {
  readonly configSource: ConfigSource;
  readonly recentLog: RecentLog;
}

/** What operations work with: the ports, this gateway's caches and its quotas. */
export interface GatewayContext {
  readonly ports: Ports;
  /** The current configuration; read it from the context each time. */
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  readonly feed: EventFeed;
  /** Recent events as SSE frames, made once for all streams. */
  readonly sseFrames: EventFrames;
  /** The same without names. */
  readonly plainFrames: EventFrames;
  readonly sessions: SessionList;
  readonly newSessions: NewSessions;
  readonly memory: MemoryList;
  readonly readMarks: ReadMarkList;
  readonly search: MessageSearch;
  readonly access: Access;
  readonly callers: Callers;
  readonly openCalls: OpenCalls;
  readonly tickets: Tickets;
  readonly loginCodes: LoginCodes;
  readonly audit: Audit;
  readonly approvals: RecentApprovals;
  readonly pairing: PairingDecisions;
  readonly runs: Runs;
  readonly metrics: GatewayMetrics;
  readonly keptMetrics: KeptMetrics;
  /** For MCP clients of the owner. */
  readonly skills?: OfferedSkills | undefined;
  readonly embeddings?: Embeddings | undefined;
  /** The folders of skills that this process finds, with what each one lacks. */
  readonly library?: Pick<SkillLibrary, 'take' | 'explain'> | undefined;
  readonly insight?: Insight | undefined;
  /** For event streams, for calls that wait, and for WebSockets. */
  readonly streams: ConcurrencyQuota;
  readonly waits: ConcurrencyQuota;
  readonly sockets: ConcurrencyQuota;
  /** For calls that fold a session's history. */
  readonly replays: ConcurrencyQuota;
  /** For bodies with files, in bytes. */
  readonly uploads: ConcurrencyQuota;
  /** Aborted when the gateway stops: streams end, waits answer. */
  readonly closing: AbortSignal;
  /** Why the gateway is not ready; empty: it is. */
  problems(): readonly HealthProblem[];
  /** Warnings of the other services of this process, which work nevertheless. */
  warnings(): readonly string[];
}
