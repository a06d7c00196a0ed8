import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isBegun } from '../../../shared/domain/session/decide/tools.ts';
import type { TurnInput } from '../../../shared/domain/session/fold/machine.ts';
import { Attempt, type TurnServices } from './attempt.ts';
import { tracedTurn } from './spans.ts';
import { runTurn } from './turn.ts';
import type { TurnSession } from './turn-session.ts';
import { isStalled } from './watchdog.ts';

/** The one effect of the session machine: runs the turns of all sessions of a host. */
export class TurnRunner {
  readonly #services: TurnServices;
  readonly #runs = new Map<Attempt, Promise<void>>();

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /** Number of turns that run now. */
  get running(): number {
    return this.#runs.size;
  }

  /** Resolves when the turns that run now have ended; it does not wait for later ones. */
  async settled(): Promise<void> {
    await Promise.all(this.#runs.values());
  }

  /** True while a call of one of these sessions runs: if it were cut off, a person would be asked whether to run it again (I6). */
  isCalling(isAsked: (key: SessionKey) => boolean): boolean {
    return [...this.#runs.keys()].some(({ key, ref, signal, state: { machine } }) => {
      const { turn } = machine.context;
      return !signal.aborted && isAsked(key) && turn?.calls.some((call) => isBegun(call, ref));
    });
  }

  /** Starts an attempt at the turn and returns what stops it. A call that was granted in the commit belongs to the attempt. */
  start(session: TurnSession, input: TurnInput): () => void {
    const turn = session.state.machine.context.turn ?? input.turn;
    const attempt = new Attempt({ session, turn, services: this.#services });
    const run = this.#run(attempt, session).finally(() => this.#runs.delete(attempt));
    this.#runs.set(attempt, run);
    return () => attempt.stop();
  }

  /** Resolves when the turn or its attempt ends; work that ignores the stop signal is not waited for. */
  async #run(attempt: Attempt, session: TurnSession): Promise<void> {
    const { config, live, conversations } = this.#services;
    try {
      const stalled = await Promise.race([tracedTurn(attempt, () => runTurn(attempt)), isStalled(attempt, attempt.signal)]);
      if (stalled !== true) return;
      attempt.stop();
      await attempt.resume(`no progress for ${config.agent.stallMs} ms`);
    } catch (error) {
      session.turnFailed(error);
    } finally {
      attempt.stop();
      live.ended(attempt.key, attempt.ref);
      // A turn that waits for a person or a program, perhaps for days, keeps nothing in memory (A5/62).
      const { value } = attempt.state.machine;
      if (value === 'awaiting_approval' || value === 'awaiting_results') conversations.forget(attempt.key);
    }
  }
}
