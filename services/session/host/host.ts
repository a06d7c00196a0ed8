import type { InspectionEvent } from 'xstate';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { errorMessage, hasCode, isUnreadable } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Tools } from '../../../shared/ports/tools.ts';
import type { AckOutcome, Delivery } from '../../../shared/ports/work-queue.ts';
import type { MemoryReader } from '../memory/reader.ts';
import { Conversations } from '../prompt/conversations.ts';
import { FileContents } from '../prompt/file-contents.ts';
import type { TurnServices } from '../turn/attempt.ts';
import { withNextStep } from '../turn/next-step.ts';
import type { SafetyToggles } from '../turn/safety-toggles.ts';
import { TurnRunner } from '../turn/turn-runner.ts';
import { Checkpoints } from './checkpoints.ts';
import { loadState } from './load.ts';
import { logFields, logOutcome } from './log-fields.ts';
import type { SessionMeters } from './meters.ts';
import { answerOf, counterOf, isLate, isRecorded, type Origin, type Outcome } from './outcome.ts';
import { Quarantine } from './quarantine.ts';
import { Registry } from './registry.ts';
import { checkHistory, isRepairCommand, repairSession } from './repair.ts';
import { LiveActors, SessionActor } from './session-actor.ts';
import { ownCommand, type SessionServices } from './session-services.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import { TurnCounters } from './turn-counters.ts';

export interface HostOptions extends Pick<TurnServices, 'traces' | 'skills' | 'prompts' | 'hideSecrets'> {
  readonly config: Config;
  readonly ports: Pick<Ports, 'clock' | 'events' | 'snapshots' | 'index' | 'answers' | 'live' | 'commands' | 'attachments'>;
  readonly log: Logger;
  readonly member: string;
  /** The model that a session chose by name, or the default. */
  modelOf(name?: string): Model;
  readonly tools: Tools;
  readonly safetyToggles: SafetyToggles;
  newId(): string;
  newApprovalId(): string;
  readonly meters?: SessionMeters;
  /** What the turns remember. Without it there is no memory. */
  readonly memory?: Pick<MemoryReader, 'note' | 'forget'> | undefined;
  /** How long an unknown commit is worked on before the command goes back to its queue, ms. */
  readonly commitPatienceMs: number;
  /** Receives what XState reports of every live actor, for developer tools. Default: nothing is inspected. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
}

/** One session host: holds the sessions of its partitions in memory and runs their turns. */
export class SessionHost {
  readonly #options: HostOptions;
  readonly #services: SessionServices;
  readonly #registry: Registry;
  readonly #turns: TurnRunner;
  readonly turnCounters: TurnCounters;
  readonly quarantine: Quarantine;
  readonly snapshots: SnapshotWriter;
  readonly #stopping = new AbortController();
  readonly counts = { commits: 0, fenced: 0, uncommitted: 0, duplicates: 0, refused: 0, late: 0, loads: 0, resumes: 0 };

  constructor(options: HostOptions) {
    this.#options = options;
    const { log, ports, config, memory } = options;
    const conversations = new Conversations(ports);
    this.quarantine = new Quarantine(log);
    this.snapshots = new SnapshotWriter(ports.snapshots, log);
    this.turnCounters = new TurnCounters(options.meters);
    const turns = turnServices(options, conversations);
    this.#turns = new TurnRunner(turns);
    this.#services = {
      ...{ ports, log, turns: this.#turns, snapshots: this.snapshots, turnCounters: this.turnCounters },
      ...{ member: options.member, safetyToggles: options.safetyToggles, commitPatienceMs: options.commitPatienceMs },
      checkpoints: new Checkpoints({ config: config.introspection, ports, log }),
      stopping: this.#stopping.signal,
      actors: new LiveActors(options.inspect),
      newId: () => options.newId(),
      note: (commit, isRunning) => {
        conversations.note(commit, isRunning);
        memory?.note(commit, isRunning);
      },
      completed: (envelope, session) => withNextStep(envelope, session, turns),
      modelOf: (name) => options.modelOf(name),
      settled: (session, outcome) => this.#settled(session, outcome),
      failed: (session, error, message) => {
        log.error({ ...logFields(session), reason: errorMessage(error) }, message);
        this.#registry.drop(session);
      },
    };
    this.#registry = new Registry({
      limit: config.session.residents,
      load: (key) => this.#load(key),
      arrived: (session) => this.#arrived(session),
      passivate: (session) => void this.snapshots.write(session),
      left: ({ key }) => {
        conversations.forget(key);
        memory?.forget(key);
      },
    });
  }

  get residents(): number {
    return this.#registry.size;
  }
  get turns(): Pick<TurnRunner, 'running' | 'isCalling'> {
    return this.#turns;
  }

  /**
   * Handles one command from the queue, from decision to answer. The verdict is `recorded` when the session's history shows that the command
   * was handled, and `done` when there was nothing to record: in another state of the session the same command might take effect.
   */
  async handle({ message: envelope, ...origin }: Delivery<CommandEnvelope>): Promise<AckOutcome> {
    try {
      const outcome = await this.#decide(envelope, origin);
      if (outcome.kind === 'stale' || outcome.kind === 'uncommitted') {
        return { kind: this.#options.safetyToggles.stopOnUncommitted ? 'retry' : 'done' };
      }
      this.#answer(envelope, outcome);
      logOutcome(envelope, outcome, this.#options.log);
      if (outcome.kind === 'accepted') await outcome.timer;
      return { kind: isRecorded(outcome) ? 'recorded' : 'done' };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      const code = hasCode(error, 'damaged') ? 'damaged' : 'quarantined';
      this.#answer(envelope, { kind: 'refused', code, message: errorMessage(error) });
      return { kind: 'dead', reason: errorMessage(error) };
    }
  }

  /** A damaged session takes one command: a person's decision. It then leaves memory and quarantine, and is loaded anew. */
  async #decide(envelope: CommandEnvelope, origin: Origin): Promise<Outcome> {
    if (envelope.data.type === 'check_history') return this.#check(envelope.key);
    const repaired = isRepairCommand(envelope)
      ? await repairSession(envelope, origin, { ...this.#services, ports: this.#options.ports })
      : null;
    if (repaired === null) return this.dispatch(envelope, origin);
    this.quarantine.lift((key) => key === envelope.key);
    this.#registry.lose((key) => key === envelope.key, { kind: 'stale' });
    return repaired;
  }

  async #check(key: SessionKey): Promise<Outcome> {
    const error = await checkHistory(this.#options.ports, key);
    if (error !== null) {
      this.quarantine.setAside(key, error);
      this.#registry.lose((each) => each === key, { kind: 'stale' });
    }
    return { kind: 'nothing' };
  }

  /** Gives a command to the session of its key. After a lost race the session is loaded again and decides again, a bounded number of times. */
  async dispatch(envelope: CommandEnvelope, origin: Origin): Promise<Outcome> {
    let outcome: Outcome = { kind: 'stale' };
    for (let attempt = 0; attempt < limits.fencedRetries && outcome.kind === 'stale'; attempt++) {
      if (!this.#options.safetyToggles.residency) this.#registry.forget(envelope.key);
      const session = await this.#registry.get(envelope.key);
      outcome = await session.dispatch(envelope, origin);
    }
    return outcome;
  }

  /** Loads a session whose turn has lost its host; loading resumes the turn (B16). Sessions in memory are left alone. */
  async recover(key: SessionKey): Promise<void> {
    if (this.#registry.has(key) || this.quarantine.has(key)) return;
    await this.#registry.get(key);
  }

  /** Expires an approval that nobody answered in time. If the session has moved on, nothing changes (ADR 11). */
  async expire(key: SessionKey, approvalId: string): Promise<void> {
    if (this.quarantine.has(key)) return;
    await this.dispatch(ownCommand(this.#services, key, { type: 'expire_approval', approvalId }, approvalId), null);
  }

  /** Ends a turn whose program gave no results of its tools in time. If the session has moved on, nothing changes. */
  async expireResults(key: SessionKey, turnId: string): Promise<void> {
    if (this.quarantine.has(key)) return;
    await this.dispatch(ownCommand(this.#services, key, { type: 'expire_results', turnId }, turnId), null);
  }

  /** Forgets the sessions of partitions that are no longer ours; their turns stop and their late results are fenced. */
  lose(isLost: (key: SessionKey) => boolean): void {
    this.#registry.lose(isLost, { kind: 'uncommitted', cause: 'another host took over the partition' });
    this.quarantine.lift(isLost);
  }

  /** Waits for the running turns, at most `graceMs`; then writes snapshots of changed sessions so that the next host loads them quickly. */
  async drain(graceMs: number): Promise<void> {
    const { clock } = this.#options.ports;
    const until = clock.monotonic() + graceMs;
    const ended = new AbortController();
    void this.#turns.settled().then(() => ended.abort(null));
    await clock.sleep(graceMs, ended.signal);
    await this.snapshots.writeAll(this.#registry.sessions(), () => clock.monotonic() < until + graceMs);
  }

  close(): void {
    this.#stopping.abort();
    this.lose(() => true);
  }

  async #load(key: SessionKey): Promise<SessionActor> {
    return this.quarantine.guard(key, async () => {
      const state = await loadState(this.#options.ports, key);
      this.counts.loads++;
      return new SessionActor(key, state, this.#services);
    });
  }

  /** Does what the last host may have left undone. A turn that was running continues as its next attempt (B16). */
  #arrived(session: SessionActor): void {
    this.#services.checkpoints.requestIfDue(session);
    if (session.state.machine.value !== 'running') return;
    this.counts.resumes++;
    session.submit({ type: 'resume_turn' }, 'resume').catch((error: unknown) => {
      this.#options.log.error(
        { ...logFields(session), reason: errorMessage(error) },
        'turn not resumed; the next sweep tries again',
      );
      this.#registry.drop(session);
    });
  }

  /** Counts an outcome; a session that may be wrong leaves memory. */
  #settled(session: SessionActor, outcome: Outcome): void {
    const counter = counterOf[outcome.kind];
    if (counter !== null) this.counts[counter]++;
    if (isLate(outcome)) this.counts.late++;
    if (outcome.kind === 'stale' || outcome.kind === 'uncommitted') this.#registry.drop(session, outcome);
  }

  #answer(envelope: CommandEnvelope, outcome: Outcome): void {
    const { answerTo, answers } = envelope;
    if (answerTo === undefined || (answers === 'unrecorded' && outcome.kind === 'accepted')) return;
    this.#options.ports.answers.tell(answerTo, answerOf(envelope, outcome));
  }
}

const turnServices = (options: HostOptions, conversations: Conversations): TurnServices => {
  const { config, tools, hideSecrets, safetyToggles, traces, skills, prompts, ports } = options;
  return {
    ...{ config, tools, hideSecrets, safetyToggles, traces, skills, prompts, conversations },
    ...{ clock: ports.clock, events: ports.events, live: ports.live, files: new FileContents(ports.attachments) },
    modelOf: (name) => options.modelOf(name),
    newApprovalId: () => options.newApprovalId(),
  };
};
