import { createHash } from 'node:crypto';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { logFields } from './log-fields.ts';
import type { SessionActor } from './session-actor.ts';

type CheckpointRequest = CommandOf<'request_checkpoint'>;
type Session = Pick<SessionActor, 'key' | 'state'>;

export interface CheckpointsOptions {
  readonly config: Config['introspection'];
  readonly ports: Pick<Ports, 'clock' | 'commands'>;
  readonly log: Logger;
}

/** One timer for each session: setting it again replaces it. */
const timerName = 'idle-checkpoint';
/** How long a message waits for its timer to be set, ms. */
const patienceMs = 500;

/**
 * Requests checkpoints that no person asked for: after a silence, and after a number of turns (A7/81, 83). The broker times the silence, with
 * one timer for each session that has something to introspect. It is set with the first message; when it fires and there were messages since,
 * it is set again for the time left. So a turn costs no timer, and no process keeps one in memory.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #idleMs: number;
  /** Sessions in memory whose timer has been set, as far as we know. */
  readonly #timed = new WeakSet<Session>();

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#idleMs = Math.round(options.config.idleMinutes * 60_000);
  }

  /**
   * Whether a message needs the timer. `missing`: it is the first that there is to introspect. `unknown`: it is the first since the session was
   * loaded, and the host before may have failed to set the timer. Ask before the message is recorded.
   */
  idleTimerOf(session: Session): 'set' | 'missing' | 'unknown' {
    if (!this.#options.config.enabled) return 'set';
    if (!hasNews(session.state)) return 'missing';
    return this.#timed.has(session) ? 'set' : 'unknown';
  }

  /**
   * Sets the timer of a message, or of a repeat of the last command. A command whose timer was missing is acknowledged after it; no answer
   * waits for it.
   * Resolves soon and never rejects: a message goes before its timer, and the next message sets it. `spokenAt`: since when it is silent, ms.
   */
  async setIdleTimer(session: Session, spokenAt = this.#options.ports.clock.now()): Promise<void> {
    const { ports, log } = this.#options;
    const isSettled = new AbortController();
    const tooLate = async (): Promise<void> => {
      await ports.clock.sleep(patienceMs, isSettled.signal);
      if (!isSettled.signal.aborted) throw new Error('the broker has not answered yet');
    };
    this.#timed.add(session);
    try {
      await Promise.race([this.#set(session.key, spokenAt + this.#idleMs), tooLate()]);
    } catch (error) {
      this.#timed.delete(session);
      log.warn({ key: session.key, reason: errorMessage(error) }, 'idle timer not set; the next message sets it');
    } finally {
      isSettled.abort();
    }
  }

  /**
   * After a timer whose command changed nothing: sets it again as long as there will be something to introspect. Call it before the
   * command is acknowledged. Rejects as `schedule` does.
   */
  async renewIdleTimer({ key, state }: Session, { data }: Pick<CommandEnvelope, 'data'>): Promise<void> {
    const { config, ports } = this.#options;
    if (!config.enabled || data.type !== 'request_checkpoint' || data.why.reason !== 'idle') return;
    const isBusy = state.machine.context.turn !== null;
    if (!isBusy && !hasNews(state)) return;
    await this.#set(key, (isBusy ? ports.clock.now() : state.position.interactedAt) + this.#idleMs);
  }

  /** Submits the request when enough turns have passed; repeated with each commit until it is recorded (A7/81). */
  requestIfDue(session: Pick<SessionActor, 'key' | 'state' | 'submit'>): void {
    const { enabled, turnLimit: turns } = this.#options.config;
    const { completedTurns, review } = session.state.machine.context;
    if (!enabled || completedTurns - review.turns < turns || !hasNews(session.state)) return;
    const request: CheckpointRequest = { type: 'request_checkpoint', why: { reason: 'turn_limit', turns } };
    session.submit(request, 'turn-limit').catch((error: unknown) => {
      const fields = { ...logFields(session), reason: errorMessage(error) };
      this.#options.log.warn(fields, 'checkpoint not requested; the next commit tries again');
    });
  }

  #set(key: SessionKey, at: number): Promise<void> {
    const id = `idle-${createHash('sha256').update(key).digest('base64url')}-${at}`;
    const data: CheckpointRequest = { type: 'request_checkpoint', why: { reason: 'idle', idleMs: this.#idleMs } };
    const envelope = { id, key, at, correlationId: id, causationId: id, actor: 'timer:idle', data };
    return this.#options.ports.commands.schedule(timerName, at, envelope);
  }
}

/** True when there are messages since the last checkpoint. */
const hasNews = ({ machine: { context } }: SessionState): boolean => context.messages > context.review.messages;
