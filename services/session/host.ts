import type { Config } from '../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import type { CommandEnvelope, Commit } from '../../shared/domain/session/envelope.ts';
import type { SessionState } from '../../shared/domain/session/evolve.ts';
import { errorMessage, hasCode } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Tools } from '../../shared/ports/tools.ts';
import type { AckOutcome, Delivery } from '../../shared/ports/work-queue.ts';
import { about, tellOf, tellOutcome } from './about.ts';
import { answerOf } from './answer.ts';
import type { TurnServices } from './attempt.ts';
import { Checkpoints } from './checkpoints.ts';
import { type CommitResult, commitFenced } from './commit.ts';
import { Conversations } from './conversations.ts';
import { instantTurn } from './instant-turn.ts';
import { loadState } from './load.ts';
import type { SessionMeters } from './meters.ts';
import { countOf, isRecorded } from './outcome-kinds.ts';
import { Quarantine } from './quarantine.ts';
import { Registry } from './registry.ts';
import { type Origin, type Outcome, SessionActor } from './session-actor.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import type { Switches } from './switches.ts';
import { Tally } from './tally.ts';
import { TurnRunner } from './turn-runner.ts';

export interface HostOptions extends Pick<TurnServices, 'traces' | 'skills' | 'prompts'> {
  readonly config: Config;
  readonly ports: Pick<Ports, 'clock' | 'events' | 'snapshots' | 'answers' | 'live' | 'commands'>;
  readonly log: Logger;
  readonly member: string;
  /** The model of a session that chose this one, or none. */
  modelOf(name?: string): Model;
  readonly tools: Tools;
  readonly switches: Switches;
  newId(): string;
  newApprovalId(): string;
  readonly meters?: SessionMeters;
  /** How long an unknown commit is worked on before the command goes back to its queue, ms. */
  readonly commitPatienceMs: number;
}

/** One session host: holds actors for the keys of its partitions and runs their turns. */
export class SessionHost {
  readonly #options: HostOptions;
  readonly #registry: Registry;
  readonly #turns: TurnRunner;
  readonly #conversations: Conversations;
  readonly #checkpoints: Checkpoints;
  readonly tally: Tally;
  readonly quarantine: Quarantine;
  readonly snapshots: SnapshotWriter;
  readonly #stopping = new AbortController();
  readonly counts = { commits: 0, fenced: 0, uncommitted: 0, duplicates: 0, refused: 0, loads: 0, resumes: 0 };

  constructor(options: HostOptions) {
    this.#options = options;
    const { log, ports, config, tools, switches } = options;
    this.quarantine = new Quarantine(log);
    this.snapshots = new SnapshotWriter(ports.snapshots, log);
    this.#checkpoints = new Checkpoints({ config: config.introspection, ports, log });
    this.tally = new Tally(options.meters);
    this.#conversations = new Conversations(ports);
    this.#turns = new TurnRunner({
      services: {
        ...{ config, tools, switches, clock: ports.clock, events: ports.events, live: ports.live },
        ...{ conversations: this.#conversations, traces: options.traces, skills: options.skills, prompts: options.prompts },
        modelOf: (name) => options.modelOf(name),
        newApprovalId: () => options.newApprovalId(),
      },
      dispatch: (actor, correlationId, command) => this.#dispatchOwn(actor, correlationId, command),
      failed: (actor, error) => {
        log.error(
          { ...about(actor), reason: errorMessage(error) },
          'turn stopped; it is resumed when its session is loaded again',
        );
        this.#registry.drop(actor);
      },
    });
    this.#registry = new Registry({
      limit: config.session.residents,
      load: (key) => this.#load(key),
      arrived: (actor) => this.#goOn(actor),
      passivate: (actor) => void this.snapshots.write(actor),
      left: ({ key }) => this.#conversations.forget(key),
    });
  }

  get residents(): number {
    return this.#registry.size;
  }
  get turnsRunning(): number {
    return this.#turns.running;
  }

  /**
   * One command from the queue, from decision to answer. The verdict is `recorded` when its session's history shows that it has been here,
   * `done` when there was nothing to record: in another state of the session the same command might take effect.
   */
  async handle({ message: envelope, seq, incarnation }: Delivery<CommandEnvelope>): Promise<AckOutcome> {
    try {
      const outcome = await this.dispatch(envelope, { seq, incarnation });
      if (outcome.kind === 'stale' || outcome.kind === 'uncommitted') {
        return { kind: this.#options.switches.stopOnUncommitted ? 'retry' : 'done' };
      }
      this.#answer(envelope, outcome);
      tellOutcome(envelope, outcome, this.#options.log);
      return { kind: isRecorded(outcome) ? 'recorded' : 'done' };
    } catch (error) {
      if (!hasCode(error, 'quarantined')) throw error;
      this.#answer(envelope, { kind: 'refused', code: 'quarantined', message: errorMessage(error) });
      return { kind: 'dead', reason: errorMessage(error) };
    }
  }

  /** Hands a command to the live actor of its key; after a lost race the actor is loaded anew and decides again, a bounded number of times. */
  async dispatch(envelope: CommandEnvelope, origin: Origin): Promise<Outcome> {
    let outcome: Outcome = { kind: 'stale' };
    for (let attempt = 0; attempt < limits.fencedRetries && outcome.kind === 'stale'; attempt++) {
      if (!this.#options.switches.residency) this.#registry.forget(envelope.key);
      const actor = await this.#registry.get(envelope.key);
      outcome = await actor.dispatch(envelope, origin);
      this.#settle(actor, outcome);
      if (outcome.kind === 'nothing') await this.#checkpoints.timeAgain(actor, envelope);
    }
    return outcome;
  }

  /** Loads a session whose turn has lost its host; loading resumes it (B16). Sessions in memory are left alone. */
  async recover(key: SessionKey): Promise<void> {
    if (this.#registry.has(key) || this.quarantine.has(key)) return;
    await this.#registry.get(key);
  }

  /** Nobody has answered in time; a session that stands elsewhere by now is left as it is (ADR 11). */
  async expire(key: SessionKey, approvalId: string): Promise<void> {
    if (this.quarantine.has(key)) return;
    await this.dispatch(this.#own(key, approvalId, { type: 'expire_approval', approvalId }), null);
  }

  /** Forgets the sessions of partitions that are no longer ours; their turns stop and their late results are fenced. */
  lose(isLost: (key: SessionKey) => boolean): void {
    this.#registry.lose(isLost, { kind: 'uncommitted', cause: 'the partition went to another host' });
  }

  /** Waits for the turns that run now, at most `graceMs`; then writes snapshots of all that changed so that the next host loads at once. */
  async drain(graceMs: number): Promise<void> {
    const { clock } = this.#options.ports;
    const until = clock.monotonic() + graceMs;
    const ended = new AbortController();
    void this.#turns.settled().then(() => ended.abort(null));
    await clock.sleep(graceMs, ended.signal);
    await this.snapshots.writeAll(this.#registry.actors(), () => clock.monotonic() < until + graceMs);
  }

  close(): void {
    this.#stopping.abort();
    this.lose(() => true);
  }

  async #load(key: SessionKey): Promise<SessionActor> {
    return this.quarantine.guard(key, async () => {
      const state = await loadState(this.#options.ports, key);
      this.counts.loads++;
      return this.#bringToLife(key, state);
    });
  }

  #bringToLife(key: SessionKey, state: SessionState): SessionActor {
    const { modelOf, ports, switches, newId, log } = this.#options;
    const failed = (error: unknown): void => {
      log.error({ ...about(actor), reason: errorMessage(error) }, 'session actor failed; its next command loads it anew');
      this.#registry.drop(actor);
    };
    const actor: SessionActor = new SessionActor(key, state, {
      createLive: (session, snapshot) => this.#turns.createLive(session, snapshot, failed),
      deduplication: switches.deduplication,
      freshness: switches.freshness,
      newId,
      commit: (commit, expectedSeq) => this.#commit(actor, commit, expectedSeq),
      lastSeq: async (session) => (await ports.events.last(session))?.seq ?? 0,
      extend: (envelope, machine) => instantTurn(modelOf(machine.context.settings.model), envelope, machine),
      failed,
    });
    return actor;
  }

  /** What its last host may have left undone. A turn that was running goes on as its next attempt (B16). */
  #goOn(actor: SessionActor): void {
    this.#lookBack(actor);
    if (actor.state.machine.value !== 'running') return;
    this.counts.resumes++;
    this.#dispatchOwn(actor, 'resume', { type: 'resume_turn' }).catch((error: unknown) => {
      this.#options.log.error({ ...about(actor), reason: errorMessage(error) }, 'turn not resumed; the next sweep tries again');
      this.#registry.drop(actor);
    });
  }

  async #commit(actor: SessionActor, commit: Commit, expectedSeq: number): Promise<CommitResult> {
    const { ports, commitPatienceMs, switches } = this.#options;
    await this.#checkpoints.time(actor, commit);
    const result = await commitFenced(ports.events, commit, expectedSeq, {
      clock: ports.clock,
      patienceMs: commitPatienceMs,
      fencing: switches.fencing,
      signal: this.#stopping.signal,
    });
    if (result.kind === 'committed') {
      this.tally.add(commit);
      tellOf(commit, this.#options.log);
      this.#conversations.note({ ...commit, seq: result.seq, recordedAt: result.recordedAt });
    }
    return result;
  }

  async #dispatchOwn(actor: SessionActor, correlationId: string, command: SessionCommand): Promise<Outcome> {
    const outcome = await actor.dispatch(this.#own(actor.key, correlationId, command), null);
    this.#settle(actor, outcome);
    return outcome;
  }

  /** A command of the host itself: it does not pass through the queue and needs no acknowledgement. */
  #own(key: SessionKey, correlationId: string, data: SessionCommand): CommandEnvelope {
    const { ports, member, newId } = this.#options;
    return { id: newId(), key, at: ports.clock.now(), correlationId, causationId: correlationId, actor: `host:${member}`, data };
  }

  #answer(envelope: CommandEnvelope, outcome: Outcome): void {
    if (envelope.answerTo !== undefined) this.#options.ports.answers.tell(envelope.answerTo, answerOf(envelope, outcome));
  }

  /** What every outcome leads to, whoever asked: an actor that may be wrong is forgotten, one in 64 commits leaves a snapshot. */
  #settle(actor: SessionActor, outcome: Outcome): void {
    const name = countOf[outcome.kind];
    if (name !== null) this.counts[name]++;
    if (outcome.kind === 'stale' || outcome.kind === 'uncommitted') this.#registry.drop(actor, outcome);
    if (outcome.kind !== 'accepted') return;
    if (this.snapshots.isDue(outcome.rev)) void this.snapshots.write(actor);
    this.#lookBack(actor);
  }

  /** Asked for again with each commit until it is recorded (A7/81). */
  #lookBack(actor: SessionActor): void {
    const wish = this.#checkpoints.wishOf(actor.state);
    if (wish === null) return;
    this.#dispatchOwn(actor, 'turn-limit', wish).catch((error: unknown) => {
      this.#options.log.warn({ ...about(actor), reason: errorMessage(error) }, 'not looked back yet; the next commit asks again');
    });
  }
}
