import { type Actor, createActor } from 'xstate';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { advance, fromPlain, type Position, type SessionState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { liveMachine } from '../../../shared/domain/session/fold/steps.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { TurnSession } from '../turn/turn-session.ts';
import { commitStep } from './commit-step.ts';
import { Mailbox } from './mailbox.ts';
import type { Origin, Outcome } from './outcome.ts';
import { ownCommand, type SessionServices } from './session-services.ts';

/**
 * One session in memory, the only thing that decides for its key on this host. It has one live XState actor from load to passivation (ADR
 * 14). Commands go through its mailbox one at a time (A5/70), and each takes effect in one order: see `commitStep`.
 */
export class SessionActor implements TurnSession {
  readonly key: SessionKey;
  readonly #services: SessionServices;
  readonly #mailbox = new Mailbox(limits.mailboxCommands);
  readonly #live: Actor<typeof liveMachine>;
  /** A time of the broker, ms: the last commit was recorded then, or later. 0: unknown. */
  recordedAfter = 0;
  #position: Position;
  #closed: Outcome | null = null;

  /** Loading is quiet: the restored actor has no children, so only a freshly recorded event can start a turn (I6). */
  constructor(key: SessionKey, state: SessionState, services: SessionServices) {
    const { machine, position } = fromPlain(toPlain(state));
    this.key = key;
    this.#services = services;
    this.#position = position;
    this.#live = createActor(liveMachine, { id: key, snapshot: machine, inspect: services.inspect });
    this.#live.subscribe({ error: (error) => this.#fail(error) });
    this.#live.start();
  }

  get state(): SessionState {
    return { machine: this.#live.getSnapshot(), position: this.#position };
  }
  get isBusy(): boolean {
    return this.#mailbox.size > 0 || this.#live.getSnapshot().value === 'running';
  }
  get isClosed(): boolean {
    return this.#closed !== null;
  }

  /** Rejects with `NatterError('overloaded')` when too many commands wait. */
  dispatch(envelope: CommandEnvelope, origin: Origin): Promise<Outcome> {
    return this.#mailbox.run(async () => {
      const outcome = this.#closed ?? (await commitStep(this, envelope, origin, this.#services));
      this.#services.settled(this, outcome);
      return outcome;
    });
  }

  /** Puts a command of the host itself into the mailbox. */
  submit(command: SessionCommand, correlationId: string): Promise<Outcome> {
    return this.dispatch(ownCommand(this.#services, this.key, command, correlationId), null);
  }

  /** Gives a recorded commit to the live actor, which receives nothing else. A turn that the commit entered and did not leave starts now. */
  apply(commit: RecordedCommit): void {
    if (this.isClosed) return;
    try {
      const { turn: before } = this.#live.getSnapshot().children;
      this.#position = advance(this.#position, commit);
      for (const event of commit.events) this.#live.send(event);
      const { turn } = this.#live.getSnapshot().children;
      if (turn !== before) turn?.send({ type: 'start_turn', start: (input) => this.#services.turns.start(this, input) });
    } catch (error) {
      this.#fail(error);
    }
  }

  turnFailed(error: unknown): void {
    this.#services.failed(this, error, 'turn stopped; it is resumed when its session is loaded again');
  }

  /** Stops the turn, if one runs; commands still in the mailbox resolve to this outcome. */
  close(outcome: Outcome): void {
    this.#closed ??= outcome;
    this.#live.stop();
  }

  /** A bug of ours, in this session alone: it is never worth the host. */
  #fail(error: unknown): void {
    this.#services.failed(this, error, 'session actor failed; its next command loads it again');
  }
}
