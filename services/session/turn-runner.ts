import { type Actor, createActor, fromCallback } from 'xstate';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import { type MachineSnapshot, sessionMachine, type TurnInput } from '../../shared/domain/session/machine.ts';
import { Attempt, type TurnServices } from './attempt.ts';
import type { Outcome, SessionActor } from './session-actor.ts';
import { runTurn } from './turn.ts';
import { tracedTurn } from './turn-trace.ts';
import { standsStill } from './watchdog.ts';

export interface TurnRunnerOptions {
  readonly services: TurnServices;
  /** Puts a command of the run `correlationId` into the session's mailbox. */
  dispatch(actor: SessionActor, correlationId: string, command: SessionCommand): Promise<Outcome>;
  /** The loop itself broke (the log could not be read, say). */
  failed(actor: SessionActor, error: unknown): void;
}

/** The one effect of the session machine: runs the turns of all sessions of a host. */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  /** Which actor an XState system belongs to: how the one turn logic of the host finds its session. */
  readonly #actorOf = new WeakMap<object, SessionActor>();
  /** The session machine with this effect provided. Made once per host: `provide` costs as much as eight actors. */
  readonly #machine: typeof sessionMachine;
  readonly #runs = new Set<Promise<void>>();

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
    this.#machine = sessionMachine.provide({
      actors: { turn: fromCallback(({ input, system }) => this.#start(input, system)) },
    });
  }

  /** Turns that run now. */
  get running(): number {
    return this.#runs.size;
  }

  /** Resolves when the turns that run now have ended; later ones are not waited for. */
  async settled(): Promise<void> {
    await Promise.all(this.#runs);
  }

  /** A live XState actor whose turns are `session`'s. Its errors are told to `failed`: one bad session never takes the host down. */
  createLive(session: SessionActor, snapshot: MachineSnapshot, failed: (error: unknown) => void): Actor<typeof sessionMachine> {
    const live = createActor(this.#machine, { id: session.key, snapshot });
    live.subscribe({ error: failed });
    this.#actorOf.set(live.system, session);
    return live;
  }

  /** Begins a microtask later, so a turn that ends within its own commit never begins. Leaving `running` stops it. */
  #start(input: TurnInput, system: object): () => void {
    let ended = false;
    let attempt: Attempt | null = null;
    queueMicrotask(() => {
      const actor = this.#actorOf.get(system);
      if (actor === undefined || ended) return;
      attempt = this.#attempt(actor, input);
      const run = this.#run(actor, attempt).finally(() => this.#runs.delete(run));
      this.#runs.add(run);
    });
    return () => {
      ended = true;
      attempt?.stop();
    };
  }

  /** The turn with all that the commit has done to it: a call that was granted began after the attempt. */
  #attempt(actor: SessionActor, { turn }: TurnInput): Attempt {
    const { services, dispatch } = this.#options;
    return new Attempt({
      key: actor.key,
      turn: actor.state.machine.context.turn ?? turn,
      services,
      state: () => actor.state,
      dispatch: (command) => dispatch(actor, turn.id, command),
    });
  }

  /** Ends when the turn does, or its attempt: what ignores that it was stopped is not waited for. */
  async #run(actor: SessionActor, attempt: Attempt): Promise<void> {
    const { failed, services } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([attempt.signal, over.signal]);
    try {
      const stalled = await Promise.race([tracedTurn(attempt, () => runTurn(attempt)), standsStill(attempt, signal)]);
      if (stalled !== true) return;
      attempt.stop();
      await attempt.resume(`no progress for ${services.config.agent.stallMs} ms`);
    } catch (error) {
      failed(actor, error);
    } finally {
      over.abort();
      services.live.ended(attempt.key, attempt.ref);
      // A turn that waits for a person, perhaps for days, keeps nothing in memory (A5/62).
      if (attempt.state.machine.value === 'awaiting_approval') services.conversations.forget(attempt.key);
    }
  }
}
