import { decide } from '../../../shared/domain/session/decide/index.ts';
import { type Repeat, repeatOf } from '../../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope, Commit, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { evolve, type SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import type { MachineSnapshot } from '../../../shared/domain/session/fold/machine.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { instantTurn } from '../turn/instant-turn.ts';
import { type CommitResult, commitFenced } from './commit.ts';
import { logTurns } from './log-fields.ts';
import type { Origin, Outcome } from './outcome.ts';
import type { SessionActor } from './session-actor.ts';
import type { SessionServices } from './session-services.ts';

/** By how much the clocks of two servers of the broker may differ. */
const clocksDifferMs = 1_000;

/**
 * The order in which a command takes effect, written down only here: decide, check, commit, apply to the live actor, then what follows. Up to
 * the commit nothing has changed; after it everything only repeats what the log says.
 */
export const commitStep = async (
  session: SessionActor,
  envelope: CommandEnvelope,
  origin: Origin,
  services: SessionServices,
): Promise<Outcome> => {
  const { state } = session;
  const repeat = await repeatIn(session, envelope, origin, services);
  if (repeat !== null) {
    // The host that recorded the last command may have gone before it set the timer.
    if (origin?.seq === state.position.command.seq && services.checkpoints.idleTimerOf(session) !== 'set')
      await services.checkpoints.setIdleTimer(session, state.position.interactedAt);
    return { kind: 'duplicate', repeat };
  }

  const decision = decide(await services.completed(envelope, session), state);
  if ('refuse' in decision) {
    const { refuse: code, message } = decision;
    return unrecorded(session, origin, services, { kind: 'refused', code, message });
  }
  if (decision.accept.length === 0) {
    const outcome = await unrecorded(session, origin, services, { kind: 'nothing' });
    if (outcome.kind === 'nothing') await services.checkpoints.renewIdleTimer(session, envelope);
    return outcome;
  }

  const checked = check(decision.accept, envelope, state, services);

  const commit = commitOf(checked, envelope, origin, state, services);
  const hasMessage = commit.events.some(({ type }) => type === 'user_message');
  const idleTimer = hasMessage ? services.checkpoints.idleTimerOf(session) : 'set';
  const result = await write(commit, state.position.seq, services);
  if (result.kind === 'refused') return { kind: 'refused', code: 'too_large', message: result.message };
  if (result.kind !== 'committed') return closeWith(session, result.kind === 'fenced' ? { kind: 'stale' } : result);
  const { seq, recordedAt, digest } = result;
  const recorded: RecordedCommit = { seq, recordedAt, digest, ...commit };

  const isRunning = checked.machine.value === 'running';
  services.note(recorded, isRunning);
  session.apply(recorded, isRunning);
  session.recordedAfter = Math.max(session.recordedAfter, origin?.storedAt ?? 0);

  follow(session, recorded, services);
  const timer = idleTimer === 'set' ? undefined : services.checkpoints.setIdleTimer(session);
  // One that was set already and is set again in case it was lost is not worth that the messages behind this one wait.
  return { kind: 'accepted', seq: recorded.seq, rev: recorded.rev, ...(idleTimer === 'missing' && { timer }) };
};

const repeatIn = async (
  session: SessionActor,
  envelope: CommandEnvelope,
  origin: Origin,
  services: SessionServices,
): Promise<Repeat | null> => {
  const { key, state } = session;
  const { deduplication, idMemory } = services.safetyToggles;
  if (!deduplication) return null;
  const known = idMemory ? state : { ...state, position: { ...state.position, olderIds: [] } };
  const repeat = repeatOf(envelope, origin, known);
  if (repeat?.by !== 'place' || !(await isPlaceReused(session, origin, services))) return repeat;
  services.log.error(
    { key, command: envelope.id, seq: origin?.seq },
    'the command queue went back to an older copy: commands are lost',
  );
  return repeatOf(envelope, null, known);
};

/**
 * True if the queue has given a place out again, as one does that went back to an older copy: what was stored after the session's last commit
 * cannot stand before a command that this commit, or one before it, has recorded. The leader is asked only if what the session knows of that
 * time is not enough.
 */
const isPlaceReused = async (session: SessionActor, origin: Origin, { ports }: SessionServices): Promise<boolean> => {
  const { storedAt } = origin ?? {};
  const isEarlier = (): boolean => storedAt === undefined || storedAt <= session.recordedAfter + clocksDifferMs;
  if (isEarlier()) return false;
  const last = await ports.events.last(session.key);
  if (last === null) return false;
  session.recordedAfter = Math.max(session.recordedAfter, last.recordedAt);
  return !isEarlier();
};

/** Events that the machine accepts, and its state after them. */
interface Checked {
  readonly events: readonly SessionEvent[];
  readonly machine: MachineSnapshot;
}

/** Throws `AssertionError` if the machine has no transition for an event. What a turn without effects answers at once is added (ADR 3). */
const check = (
  decided: readonly SessionEvent[],
  envelope: CommandEnvelope,
  state: SessionState,
  { modelOf }: SessionServices,
): Checked => {
  const machine = decided.reduce(evolve, state.machine);
  const answered = instantTurn(modelOf(machine.context.settings.model), envelope, machine);
  return { events: [...decided, ...answered.events], machine: answered.machine };
};

const commitOf = (
  { events, machine }: Checked,
  { id, key, at, correlationId, actor, order, call }: CommandEnvelope,
  origin: Origin,
  { position }: SessionState,
  { newId, member }: SessionServices,
): Commit => ({
  v: 2,
  id: newId(),
  key,
  rev: position.rev + 1,
  prev: position.digest,
  sessionId: machine.context.sessionId,
  epoch: machine.context.epoch,
  at,
  correlationId,
  causationId: id,
  actor,
  host: member,
  command: {
    ...{ id, seq: origin?.seq ?? null, incarnation: origin?.incarnation ?? null },
    ...(order && { order }),
    ...(call && { call }),
  },
  events,
});

const write = (
  commit: Commit,
  expectedSeq: number,
  { ports: { events, clock }, commitPatienceMs: patienceMs, safetyToggles: { fencing }, stopping: signal }: SessionServices,
): Promise<CommitResult> => commitFenced(events, commit, expectedSeq, { clock, patienceMs, fencing, signal });

/**
 * No append fences what is not recorded, and another host may have gone on with the session: an answer that nothing happened must be true
 * of the newest state. The host's own commands have no sender to mislead.
 */
const unrecorded = async (
  session: SessionActor,
  origin: Origin,
  { ports, safetyToggles }: SessionServices,
  outcome: Outcome,
): Promise<Outcome> => {
  if (origin === null || !safetyToggles.freshness) return outcome;
  try {
    const last = await ports.events.last(session.key);
    return (last?.seq ?? 0) === session.state.position.seq ? outcome : closeWith(session, { kind: 'stale' });
  } catch (error) {
    return closeWith(session, { kind: 'uncommitted', cause: errorMessage(error) });
  }
};

const closeWith = (session: SessionActor, outcome: Outcome): Outcome => {
  session.close(outcome);
  return outcome;
};

/** What a recorded commit leads to besides its turn: numbers, log lines, a snapshot, a checkpoint that is due. */
const follow = (session: SessionActor, commit: RecordedCommit, services: SessionServices): void => {
  const { turnCounters, log, snapshots, checkpoints } = services;
  turnCounters.add(commit);
  logTurns(commit, log);
  if (session.isClosed) return;
  if (snapshots.isDue(commit.rev)) void snapshots.write(session);
  checkpoints.requestIfDue(session);
};
