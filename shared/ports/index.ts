import type { InboundEnvelope } from '../domain/routing/inbound-envelope.ts';
import type { CheckpointRequest } from '../domain/session/envelope.ts';
import type { Clock } from '../kit/clock.ts';
import type { HealthProblem } from '../kit/health-problem.ts';
import type { NewCalls } from './access/new-calls.ts';
import type { Pairings } from './access/pairings.ts';
import type { ReadMarks } from './access/read-marks.ts';
import type { Tokens } from './access/tokens.ts';
import type { Answers } from './answers.ts';
import type { AuditLog } from './audit-log.ts';
import type { Cursors } from './cursors.ts';
import type { CustodyLog } from './custody-log.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { EventLog } from './event-log.ts';
import type { Leases } from './leases.ts';
import type { Live } from './live.ts';
import type { MemoryStore } from './memory-store.ts';
import type { Attachments } from './objects/attachments.ts';
import type { Presence } from './presence.ts';
import type { ResumeRequests } from './resume-requests.ts';
import type { SessionIndex } from './session-index.ts';
import type { Snapshots } from './snapshots.ts';
import type { CommandBus, WorkQueue } from './work-queue.ts';

/**
 * The outside world, one port per file. Each port has an in-memory and a NATS adapter, and a contract suite that both pass.
 * Unless a method says otherwise, it rejects with `NatterError('unavailable')` when the broker does not answer in time; the
 * outcome is then unknown.
 */

/**
 * The ports that the broker provides. Only `services/<name>/main.ts` chooses the adapters and passes each service the ports it
 * uses.
 */
export interface Ports {
  readonly clock: Clock;
  readonly events: EventLog;
  readonly commands: CommandBus;
  readonly inbound: WorkQueue<InboundEnvelope>;
  readonly checkpoints: WorkQueue<CheckpointRequest>;
  readonly answers: Answers;
  readonly attachments: Attachments;
  readonly snapshots: Snapshots;
  readonly index: SessionIndex;
  readonly memory: MemoryStore;
  readonly cursors: Cursors;
  readonly leases: Leases;
  readonly live: Live;
  readonly resumeRequests: ResumeRequests;
  readonly custody: CustodyLog;
  readonly deadLetters: DeadLetters;
  readonly tokens: Tokens;
  readonly newCalls: NewCalls;
  readonly readMarks: ReadMarks;
  readonly pairings: Pairings;
  readonly audit: AuditLog;
  readonly presence: Presence;
  /**
   * Why the broker cannot be relied on now: disconnected, a stream or a consumer missing, writes that are not stored, the log
   * regressed (I13). Empty if there is no problem.
   */
  problems(): readonly HealthProblem[];
  close(): Promise<void>;
}
