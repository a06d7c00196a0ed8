import type { Config } from '../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import type { ActiveTurn } from '../../shared/domain/session/context.ts';
import type { SessionState } from '../../shared/domain/session/evolve.ts';
import type { TurnRef } from '../../shared/domain/values/types.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import type { EventLog } from '../../shared/ports/event-log.ts';
import type { Live } from '../../shared/ports/live.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Tools } from '../../shared/ports/tools.ts';
import { noSkills, type SkillSet } from '../../shared/runtime/skills/explain.ts';
import type { SkillLibrary } from '../../shared/runtime/skills/library.ts';
import type { Conversations } from './conversations.ts';
import type { RunTraces } from './run-traces.ts';
import type { Scene } from './scene.ts';
import type { Outcome } from './session-actor.ts';
import type { Switches } from './switches.ts';
import type { SystemPrompt, SystemPrompts } from './system-prompt.ts';

/** What the turns of a host work with. */
export interface TurnServices {
  readonly config: Config;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly live: Live;
  readonly tools: Tools;
  readonly switches: Switches;
  readonly conversations: Pick<Conversations, 'read' | 'forget'>;
  readonly prompts: Pick<SystemPrompts, 'read'>;
  /** None: no session has any. */
  readonly skills?: Pick<SkillLibrary, 'take'> | undefined;
  /** The model of a session that chose this one, or none. */
  modelOf(name?: string): Model;
  /** Which trace the runs are of; a turn of which nobody says so begins its own. */
  readonly traces?: RunTraces | undefined;
  /** Short enough to be typed. */
  newApprovalId(): string;
}

export interface AttemptOptions {
  readonly key: SessionKey;
  readonly turn: ActiveTurn;
  readonly services: TurnServices;
  /** The session as its log says it is, now. */
  state(): SessionState;
  /** Puts a command into the session's mailbox. */
  dispatch(command: SessionCommand): Promise<Outcome>;
}

/**
 * One attempt at a turn: what it may know and do. It changes nothing itself; every outcome goes back as a command, and what comes after its
 * end is dropped here and refused there (I5).
 */
export class Attempt {
  readonly key: SessionKey;
  readonly ref: TurnRef;
  readonly services: TurnServices;
  /** Calls that a person has allowed: the commit that began this attempt began them too. */
  readonly granted: ReadonlySet<string>;
  /** The step before which this attempt tried to make room: once per step is enough. */
  madeRoomAt = 0;
  readonly #options: AttemptOptions;
  readonly #stop = new AbortController();
  #progressAt: number;
  #prompt: { readonly sender: string; readonly read: Promise<SystemPrompt> } | null = null;
  #skills: Promise<SkillSet> | null = null;
  #atWork = 0;

  constructor(options: AttemptOptions) {
    const { key, turn, services } = options;
    this.key = key;
    this.ref = { id: turn.id, attempt: turn.attempt };
    this.services = services;
    this.granted = new Set(turn.calls.flatMap((call) => (call.attempt === turn.attempt ? [call.callId] : [])));
    this.#options = options;
    this.#progressAt = services.clock.monotonic();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
  get state(): SessionState {
    return this.#options.state();
  }
  /** The model that the session has now. */
  get model(): Model {
    return this.services.modelOf(this.state.machine.context.settings.model);
  }
  /** Monotonic time of the last progress, ms: now while something with a deadline of its own is at work, ahead of now in a rest on purpose. */
  get progressAt(): number {
    return this.#atWork > 0 ? this.services.clock.monotonic() : this.#progressAt;
  }

  /** Waits for something that has a deadline of its own. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#atWork++;
    try {
      return await work;
    } finally {
      this.#atWork--;
      this.progressed();
    }
  }

  /** The turn as it stands; `null` once this attempt is over. */
  turn(): ActiveTurn | null {
    const { value, context } = this.state.machine;
    const { turn } = context;
    const isOurs = value === 'running' && turn?.id === this.ref.id && turn.attempt === this.ref.attempt;
    return isOurs && !this.signal.aborted ? turn : null;
  }

  /** Records an outcome. What it changes is in `state` by the time it resolves. */
  async record(command: SessionCommand): Promise<Outcome> {
    if (this.signal.aborted) return { kind: 'nothing' };
    const outcome = await this.#options.dispatch(command);
    if (outcome.kind === 'accepted') this.progressed();
    return outcome;
  }

  /**
   * The system prompt, read once for each sender: all steps of an attempt have the same, so that providers can remember it. A file that the
   * turn itself changes counts from the next turn on.
   */
  prompt({ tools, scope, skills }: Pick<Scene, 'tools' | 'scope' | 'skills'>): Promise<SystemPrompt> {
    const { prompts, config } = this.services;
    const { role, principal } = scope.sender;
    const sender = `${role} ${principal}`;
    if (this.#prompt?.sender !== sender) {
      const { workingMemory } = this.state.machine.context.review;
      this.#prompt = { sender, read: prompts.read(config, tools, scope, { skills: skills.section, workingMemory }) };
    }
    return this.#prompt.read;
  }

  /** The session's skills, the same for all of an attempt (A15/166). A generation has some once a step of it is recorded. */
  skills(): Promise<SkillSet> {
    const { skills: refs, prompt } = this.state.machine.context;
    this.#skills ??= this.services.skills?.take({ taken: prompt.length > 0, refs }) ?? Promise.resolve(noSkills);
    return this.#skills;
  }

  /** Something came of it: the watchdog waits anew, after `restMs` if the turn rests so long. */
  progressed(restMs = 0): void {
    this.#progressAt = Math.max(this.#progressAt, this.services.clock.monotonic() + restMs);
  }

  /** Ends the attempt: model and tools are told, and nobody waits for them. */
  stop(): void {
    this.#stop.abort();
  }

  /** Tells the log that the attempt stood still: the turn begins its next attempt, or is given up (B29). */
  resume(reason: string): Promise<Outcome> {
    return this.#options.dispatch({ type: 'resume_turn', turn: this.ref, reason });
  }
}
