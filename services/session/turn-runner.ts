import { type Actor, createActor, fromCallback } from 'xstate';
import type { Clock, EventLog, Live, Model } from '../../shared/ports.ts';
import { type MachineSnapshot, sessionMachine, type TurnInput } from '../../shared/session/machine.ts';
import type { StepOutcome, TurnRef } from '../../shared/session/types.ts';
import type { SessionActor } from './session-actor.ts';
import { runTurn } from './turn.ts';

export interface TurnRunnerOptions {
  modelOf(name?: string): Model;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly live: Live;
  /** Puts the outcome of a step into the session's mailbox; true once it is recorded. */
  record(actor: SessionActor, turn: TurnRef, step: number, outcome: StepOutcome): Promise<boolean>;
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
    let stop: AbortController | null = null;
    queueMicrotask(() => {
      const actor = this.#actorOf.get(system);
      if (actor === undefined || ended) return;
      stop = new AbortController();
      const run = this.#run(actor, input, stop.signal).finally(() => this.#runs.delete(run));
      this.#runs.add(run);
    });
    return () => {
      ended = true;
      stop?.abort();
    };
  }

  async #run(actor: SessionActor, input: TurnInput, signal: AbortSignal): Promise<void> {
    const { modelOf, events, clock, live, record, failed } = this.#options;
    const turn: TurnRef = { id: input.turn.id, attempt: input.turn.attempt };
    try {
      await runTurn(input, {
        key: actor.key,
        model: modelOf(actor.state.machine.context.settings.model),
        events,
        clock,
        live,
        reach: actor.state.position,
        signal,
        record: (step, outcome) => record(actor, turn, step, outcome),
      });
    } catch (error) {
      failed(actor, error);
    }
  }
}
