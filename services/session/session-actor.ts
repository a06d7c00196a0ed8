import type { Actor } from 'xstate';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { decide, isBehind, isRepeat, type RefusalCode } from '../../shared/domain/session/decide/index.ts';
import type { CommandEnvelope, Commit, RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import { advance, evolve, fromPlain, type Position, type SessionState, toPlain } from '../../shared/domain/session/evolve.ts';
import type { MachineSnapshot, sessionMachine } from '../../shared/domain/session/machine.ts';
import { errorMessage } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { CommitResult } from './commit.ts';
import { Mailbox } from './host/mailbox.ts';

/** Where a command came from: its place in the command stream, or `null` for the host's own. */
export type Origin = { readonly seq: number; readonly incarnation: number } | null;

/** What became of a command. After `stale` and `uncommitted` the actor is closed: what it believes may be wrong. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly seq: number; readonly rev: number }
  | { readonly kind: 'nothing' }
  /** `recorded`: its position says so, and will for ever. */
  | { readonly kind: 'duplicate'; readonly recorded: boolean }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'too_large' | 'quarantined'; readonly message: string }
  | { readonly kind: 'stale' }
  | { readonly kind: 'uncommitted'; readonly cause: string };

export interface ActorOptions {
  /** A live actor of the session machine that goes on from this snapshot, not started; its turns belong to `session`. */
  createLive(session: SessionActor, snapshot: MachineSnapshot): Actor<typeof sessionMachine>;
  readonly deduplication: boolean;
  readonly freshness: boolean;
  newId(): string;
  commit(commit: Commit, expectedSeq: number): Promise<CommitResult>;
  /** Sequence of the session's last commit, 0 if there is none. */
  lastSeq(key: SessionKey): Promise<number>;
  /** Adds what a turn without effects answers at once to the same decision (ADR 3). */
  extend(envelope: CommandEnvelope, machine: MachineSnapshot): { events: readonly SessionEvent[]; machine: MachineSnapshot };
  /** The live actor failed: a bug of ours, in this session alone. */
  failed(error: unknown): void;
}

/**
 * One session, live: the only thing that decides for its key on this host. Commands go through its mailbox one at a time (A5/70). An idle
 * session is just its fold; its XState actor lives from the commit that starts a turn to the one that ends it (ADR 6).
 */
export class SessionActor {
  readonly key: SessionKey;
  readonly #options: ActorOptions;
  readonly #mailbox = new Mailbox(limits.mailboxCommands);
  #machine: MachineSnapshot;
  #position: Position;
  #live: Actor<typeof sessionMachine> | null = null;
  #closed: Outcome | null = null;

  /** Loading starts nothing: the snapshot has no children, so only a freshly recorded event can start a turn (I6). */
  constructor(key: SessionKey, state: SessionState, options: ActorOptions) {
    this.key = key;
    this.#options = options;
    const quiet = fromPlain(toPlain(state));
    this.#machine = quiet.machine;
    this.#position = quiet.position;
  }

  get state(): SessionState {
    return { machine: this.#machine, position: this.#position };
  }
  get busy(): boolean {
    return this.#mailbox.size > 0 || this.#machine.value === 'running';
  }

  dispatch(envelope: CommandEnvelope, origin: Origin): Promise<Outcome> {
    return this.#mailbox.run(async () => this.#closed ?? (await this.#handle(envelope, origin)));
  }

  /** Stops the turn, if one runs; commands still in the mailbox come back with this outcome. */
  close(outcome: Outcome): void {
    this.#closed ??= outcome;
    this.#live?.stop();
  }

  /** Decide, check, commit, live. */
  async #handle(envelope: CommandEnvelope, origin: Origin): Promise<Outcome> {
    const { state, key } = this;
    if (this.#options.deduplication && isRepeat(envelope, origin, state))
      return { kind: 'duplicate', recorded: isBehind(origin, state) };

    const decision = decide(envelope, state);
    if ('refuse' in decision)
      return this.#unrecorded(origin, { kind: 'refused', code: decision.refuse, message: decision.message });
    if (decision.accept.length === 0) return this.#unrecorded(origin, { kind: 'nothing' });

    const decided = decision.accept.reduce(evolve, state.machine);
    const extended = this.#options.extend(envelope, decided);
    const events = [...decision.accept, ...extended.events];
    const { sessionId, epoch } = extended.machine.context;
    const commit: Commit = {
      v: 1,
      id: this.#options.newId(),
      key,
      rev: state.position.rev + 1,
      sessionId,
      epoch,
      at: envelope.at,
      correlationId: envelope.correlationId,
      causationId: envelope.id,
      actor: envelope.actor,
      command: { id: envelope.id, seq: origin?.seq ?? null, incarnation: origin?.incarnation ?? null },
      events,
    };

    const result = await this.#options.commit(commit, state.position.seq);
    if (result.kind === 'committed')
      return this.#goLive({ ...commit, seq: result.seq, recordedAt: result.recordedAt }, extended.machine);
    if (result.kind === 'refused') return { kind: 'refused', code: 'too_large', message: result.message };
    const outcome: Outcome = result.kind === 'fenced' ? { kind: 'stale' } : result;
    this.close(outcome);
    return outcome;
  }

  /**
   * No append fences what is not recorded, and another host may have gone on with the session: whoever is told that nothing happens is told
   * so of the newest state.
   */
  async #unrecorded(origin: Origin, outcome: Outcome): Promise<Outcome> {
    if (origin === null || !this.#options.freshness) return outcome;
    const problem = await this.#options.lastSeq(this.key).then(
      (seq): Outcome | null => (seq === this.#position.seq ? null : { kind: 'stale' }),
      (error: unknown): Outcome => ({ kind: 'uncommitted', cause: errorMessage(error) }),
    );
    if (problem !== null) this.close(problem);
    return problem ?? outcome;
  }

  /** Only what is recorded reaches the live actor; entering `running` there starts the turn, leaving it stops the turn. */
  #goLive(commit: RecordedCommit, after: MachineSnapshot): Outcome {
    const { seq, rev } = commit;
    if (this.#closed !== null) return { kind: 'accepted', seq, rev };
    try {
      if (after.value === 'running') this.#live ??= this.#options.createLive(this, this.#machine).start();
      this.#machine = after;
      this.#position = advance(this.#position, commit);
      for (const event of this.#live === null ? [] : commit.events) this.#live?.send(event);
      if (after.value !== 'running') this.#rest();
    } catch (error) {
      this.close({ kind: 'stale' });
      this.#options.failed(
        new Error(`session ${this.key}@${seq} failed after its commit: ${errorMessage(error)}`, { cause: error }),
      );
    }
    return { kind: 'accepted', seq, rev };
  }

  #rest(): void {
    this.#live?.stop();
    this.#live = null;
  }
}
