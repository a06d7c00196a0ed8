import { createHash } from 'node:crypto';
import type { Config } from '../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { CommandOf } from '../../shared/domain/session/commands.ts';
import type { CommandEnvelope, Commit } from '../../shared/domain/session/envelope.ts';
import type { SessionState } from '../../shared/domain/session/evolve.ts';
import { errorMessage } from '../../shared/kit/errors.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { SessionActor } from './session-actor.ts';

type Wish = CommandOf<'request_checkpoint'>;
type Session = Pick<SessionActor, 'key' | 'state'>;

export interface CheckpointsOptions {
  readonly config: Config['introspection'];
  readonly ports: Pick<Ports, 'clock' | 'commands'>;
  readonly log: Logger;
}

/** One timer for each session: setting it again replaces it. */
const timerName = 'idle-checkpoint';
/** A message waits so long for its timer, ms. */
const patienceMs = 500;

/**
 * When a session is looked back on although nobody asks for it: after a silence, and after so many turns (A7/81, 83). The silence is timed
 * by the broker, with one timer for each session that has something to look back on: set with the first message, and when it is due and
 * somebody has said something meanwhile, set again for what is left. So a turn costs no timer, and no process has one in its memory.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #idleMs: number;
  /** Sessions in memory whose timer is set, for all we know. */
  readonly #timed = new WeakSet<Session>();

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#idleMs = Math.round(options.config.idleMinutes * 60_000);
  }

  /**
   * Before a commit: sets the timer for the first message that there is to look back on, and for the first since the session was loaded, in
   * case the timer was lost. Soon resolves, and never rejects: a message goes before its timer, and the next one sets it.
   */
  async time(session: Session, { events }: Pick<Commit, 'events'>): Promise<void> {
    const { config, ports, log } = this.#options;
    if (!config.enabled || !events.some(({ type }) => type === 'user_message')) return;
    if (this.#timed.has(session) && isUnreviewed(session.state)) return;
    const isSettled = new AbortController();
    const tooLate = async (): Promise<void> => {
      await ports.clock.sleep(patienceMs, isSettled.signal);
      if (!isSettled.signal.aborted) throw new Error('the broker has not answered yet');
    };
    try {
      await Promise.race([this.#set(session.key, ports.clock.now() + this.#idleMs), tooLate()]);
      this.#timed.add(session);
    } catch (error) {
      this.#timed.delete(session);
      log.warn({ key: session.key, reason: errorMessage(error) }, 'idle timer not set; the next message sets it');
    } finally {
      isSettled.abort();
    }
  }

  /**
   * After a timer that led to nothing: sets it again as long as there will be something to look back on. To be called before the timer's
   * command is done with. Rejects as `schedule` does.
   */
  async timeAgain({ key, state }: Session, { data }: Pick<CommandEnvelope, 'data'>): Promise<void> {
    const { config, ports } = this.#options;
    if (!config.enabled || data.type !== 'request_checkpoint' || data.why.reason !== 'idle') return;
    const isBusy = state.machine.context.turn !== null;
    if (!isBusy && !isUnreviewed(state)) return;
    await this.#set(key, (isBusy ? ports.clock.now() : state.position.interactedAt) + this.#idleMs);
  }

  /** What a session that has had so many turns is to be asked, if anything. */
  wishOf(state: SessionState): Wish | null {
    const { enabled, turnLimit: turns } = this.#options.config;
    const { completedTurns, review } = state.machine.context;
    if (!enabled || completedTurns - review.turns < turns || !isUnreviewed(state)) return null;
    return { type: 'request_checkpoint', why: { reason: 'turn_limit', turns } };
  }

  #set(key: SessionKey, at: number): Promise<void> {
    const id = `idle-${createHash('sha256').update(key).digest('base64url')}-${at}`;
    const data: Wish = { type: 'request_checkpoint', why: { reason: 'idle', idleMs: this.#idleMs } };
    const envelope = { id, key, at, correlationId: id, causationId: id, actor: 'timer:idle', data };
    return this.#options.ports.commands.schedule(timerName, at, envelope);
  }
}

const isUnreviewed = ({ machine: { context } }: SessionState): boolean => context.messages > context.review.messages;
