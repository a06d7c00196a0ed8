import { type Actor, type AnyActorRef, createActor, type InspectionEvent, setup, stopChild } from 'xstate';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { advance, fromPlain, type Position, type SessionState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { type MachineSnapshot, sessionMachine } from '../../../shared/domain/session/fold/machine.ts';
import { livingOf } from '../../../shared/domain/session/fold/steps.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { TurnSession } from '../turn/turn-session.ts';
import { commitStep } from './commit-step.ts';
import { Mailbox } from './mailbox.ts';
import type { Origin, Outcome } from './outcome.ts';
import { ownCommand, type SessionServices } from './session-services.ts';

type LiveActor = Actor<typeof sessionMachine>;

/** The parent: stops a session's actor when it is told to, and lets the failure of one pass, which that session's host handles. */
const parent = setup({ types: { events: {} as { type: 'stop'; actor: AnyActorRef } } }).createMachine({
  on: { stop: { actions: stopChild(({ event }) => event.actor) }, '*': {} },
});

/**
 * The live actors of a host's sessions (ADR 14), children of one parent: an actor without a parent has an XState system of its own, which was a
 * quarter of what an idle session keeps in memory.
 */
export class LiveActors {
  readonly #parent: Actor<typeof parent>;
  readonly #turns = { start: true };
  readonly #machine = livingOf(sessionMachine, this.#turns);

  /** `inspect` receives what XState reports of every actor. */
  constructor(inspect?: (event: InspectionEvent) => void) {
    this.#parent = createActor(parent, { inspect }).start();
  }

  /** Starts the actor of a session. `failed` is called when it has failed. */
  start(key: SessionKey, snapshot: MachineSnapshot, failed: (error: unknown) => void): LiveActor {
    const actor = createActor(this.#machine, { id: key, snapshot, parent: this.#parent });
    actor.subscribe({ error: failed });
    actor.start();
    // The snapshot that it started from would be kept as long as it lives.
    actor.options = {};
    return actor;
  }

  /** Gives the events of a commit to an actor. `startsTurn`: false if the commit ends the turns that it begins. */
  send(actor: LiveActor, events: readonly SessionEvent[], startsTurn: boolean): void {
    this.#turns.start = startsTurn;
    try {
      for (const event of events) actor.send(event);
    } finally {
      this.#turns.start = true;
    }
  }

  stop(actor: LiveActor): void {
    this.#parent.send({ type: 'stop', actor });
  }
}

/**
 * One session in memory, the only thing that decides for its key on this host. It has one live XState actor from load to passivation (ADR
 * 14). Commands go through its mailbox one at a time (A5/70), and each takes effect in one order: see `commitStep`.
 */
export class SessionActor implements TurnSession {
  readonly key: SessionKey;
  readonly #services: SessionServices;
  readonly #mailbox = new Mailbox(limits.mailboxCommands);
  readonly #live: LiveActor;
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
    this.#live = services.actors.start(key, machine, (error) => this.#fail(error));
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

  /**
   * Gives a recorded commit to the live actor, which receives nothing else. A turn that the commit entered and did not leave starts now.
   * `isRunning`: whether a turn runs after it.
   */
  apply(commit: RecordedCommit, isRunning: boolean): void {
    if (this.isClosed) return;
    try {
      const { turn: before } = this.#live.getSnapshot().children;
      this.#position = advance(this.#position, commit);
      this.#services.actors.send(this.#live, commit.events, isRunning);
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
    this.#services.actors.stop(this.#live);
  }

  /** A bug of ours, in this session alone: it is never worth the host. */
  #fail(error: unknown): void {
    this.#services.failed(this, error, 'session actor failed; its next command loads it again');
  }
}
