import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { SafetyToggles } from '../turn/safety-toggles.ts';
import type { TurnRunner } from '../turn/turn-runner.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Outcome } from './outcome.ts';
import type { LiveActors, SessionActor } from './session-actor.ts';
import type { SnapshotWriter } from './snapshot-writer.ts';
import type { TurnCounters } from './turn-counters.ts';

/** What all sessions of a host work with. */
export interface SessionServices {
  readonly ports: Pick<Ports, 'clock' | 'events'>;
  readonly log: Logger;
  /** Name of the host among all hosts. */
  readonly member: string;
  readonly safetyToggles: SafetyToggles;
  readonly actors: LiveActors;
  readonly turns: Pick<TurnRunner, 'start'>;
  readonly checkpoints: Checkpoints;
  readonly turnCounters: TurnCounters;
  readonly snapshots: SnapshotWriter;
  /** How long an unknown commit is worked on before the command goes back to its queue, ms. */
  readonly commitPatienceMs: number;
  /** Aborts when the host closes: unknown commits are given up. */
  readonly stopping: AbortSignal;
  newId(): string;
  /** Called with each commit as soon as it is recorded, for what is kept of the session besides its state. */
  note(commit: RecordedCommit, isRunning: boolean): void;
  /** The command with what only the host knows of it. */
  completed(envelope: CommandEnvelope, session: SessionActor): Promise<CommandEnvelope> | CommandEnvelope;
  /** The model that a session chose by name, or the default. */
  modelOf(name?: string): Model;
  /** Called with the outcome of each command. */
  settled(session: SessionActor, outcome: Outcome): void;
  /** The session cannot stay in memory. Its log is intact. */
  failed(session: SessionActor, error: unknown, message: string): void;
}

/** A command of the host itself. It does not pass through the queue and needs no acknowledgement. */
export const ownCommand = (
  { ports, member, newId }: Pick<SessionServices, 'ports' | 'member' | 'newId'>,
  key: SessionKey,
  data: SessionCommand,
  correlationId: string,
): CommandEnvelope => ({
  id: newId(),
  key,
  at: ports.clock.now(),
  correlationId,
  causationId: correlationId,
  actor: `host:${member}`,
  data,
});
