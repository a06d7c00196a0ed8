import type { Config } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { ActiveTurn } from '../../../shared/domain/session/context.ts';
import type { SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import type { TurnRef } from '../../../shared/domain/values/types.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { aborted } from '../../../shared/kit/signal.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Live } from '../../../shared/ports/live.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Tools } from '../../../shared/ports/tools.ts';
import { noSkills, type SkillSet } from '../../../shared/runtime/skills/explain.ts';
import type { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import type { Conversations } from '../prompt/conversations.ts';
import type { FileContents } from '../prompt/file-contents.ts';
import type { SystemPrompt, SystemPrompts } from '../prompt/system-prompt.ts';
import { HeldResults } from './held-results.ts';
import type { RunTraces } from './run-traces.ts';
import type { SafetyToggles } from './safety-toggles.ts';
import type { TurnContext } from './turn-context.ts';
import type { TurnOutcome, TurnSession } from './turn-session.ts';

/** What the turns of a host work with. */
export interface TurnServices {
  readonly config: Config;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly live: Live;
  readonly tools: Tools;
  readonly files: Pick<FileContents, 'of'>;
  /** Removes the secrets of this installation from a text that is to be recorded (I12). */
  readonly hideSecrets?: ((text: string) => string) | undefined;
  readonly safetyToggles: SafetyToggles;
  readonly conversations: Pick<Conversations, 'read' | 'forget'>;
  readonly prompts: Pick<SystemPrompts, 'read'>;
  /** Without a library no session has skills. */
  readonly skills?: Pick<SkillLibrary, 'take'> | undefined;
  /** The model that a session chose by name, or the default. */
  modelOf(name?: string): Model;
  /** The traces of the runs. A turn without a known trace starts its own. */
  readonly traces?: RunTraces | undefined;
  /** Short enough to be typed. */
  newApprovalId(): string;
}

export interface AttemptOptions {
  readonly session: TurnSession;
  readonly turn: ActiveTurn;
  readonly services: TurnServices;
}

/**
 * One attempt at a turn: what it may know and do. It changes nothing itself. Every outcome goes back to the session as a command; what comes
 * after its end is dropped here and refused there (I5).
 */
export class Attempt {
  readonly ref: TurnRef;
  readonly services: TurnServices;
  /** Calls that a person has allowed: the commit that started this attempt started them too. */
  readonly granted: ReadonlySet<string>;
  /** The step before which this attempt last compacted: once per step is enough. */
  compactedBeforeStep = 0;
  /** Results that are not recorded yet. */
  readonly held: HeldResults;
  readonly #session: TurnSession;
  readonly #stop = new AbortController();
  #progressAt: number;
  #prompt: { readonly sender: string; readonly read: Promise<SystemPrompt> } | null = null;
  #skills: Promise<SkillSet> | null = null;
  #timedWork = 0;

  constructor({ session, turn, services }: AttemptOptions) {
    this.ref = { id: turn.id, attempt: turn.attempt };
    this.services = services;
    this.granted = new Set(turn.calls.flatMap((call) => (call.attempt === turn.attempt ? [call.callId] : [])));
    this.#session = session;
    this.held = new HeldResults({
      clock: services.clock,
      signal: this.signal,
      record: (result) => this.record({ type: 'record_result', turn: this.ref, ...result }),
    });
    this.#progressAt = services.clock.monotonic();
  }

  get key(): SessionKey {
    return this.#session.key;
  }
  get signal(): AbortSignal {
    return this.#stop.signal;
  }
  /** The session as of its last recorded commit. */
  get state(): SessionState {
    return this.#session.state;
  }
  /** The model that the session has now. */
  get model(): Model {
    return this.services.modelOf(this.state.machine.context.settings.model);
  }
  /** Monotonic time of the last progress, ms: now while work with its own deadline runs, in the future during a deliberate rest. */
  get progressAt(): number {
    return this.#timedWork > 0 ? this.services.clock.monotonic() : this.#progressAt;
  }

  /** Waits for work that has its own deadline. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#timedWork++;
    try {
      return await work;
    } finally {
      this.#timedWork--;
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
  async record(command: SessionCommand): Promise<TurnOutcome> {
    if (this.signal.aborted) return { kind: 'nothing' };
    const outcome = await this.#session.submit(command, this.ref.id);
    if (outcome.kind === 'accepted') this.progressed();
    return outcome;
  }

  /**
   * The system prompt, read once for each sender: all steps of an attempt have the same, so that providers can cache it. A file that the
   * turn itself changes counts from the next turn on.
   */
  prompt({ tools, scope, skills }: Pick<TurnContext, 'tools' | 'scope' | 'skills'>): Promise<SystemPrompt> {
    const { prompts, config } = this.services;
    const { role, principal } = scope.sender;
    const sender = `${role} ${principal}`;
    if (this.#prompt?.sender !== sender) {
      const { workingMemory } = this.state.machine.context.review;
      this.#prompt = { sender, read: prompts.read(config, tools, scope, { skills: skills.section, workingMemory }) };
    }
    return this.#prompt.read;
  }

  /** The session's skills, the same for the whole attempt (A15/166). A generation takes its skills when its first step is recorded. */
  skills(): Promise<SkillSet> {
    const { skills: refs, prompt } = this.state.machine.context;
    this.#skills ??= this.services.skills?.take({ taken: prompt.length > 0, refs }) ?? Promise.resolve(noSkills);
    return this.#skills;
  }

  /** Restarts the watchdog's wait, after `restMs` if the turn rests that long. */
  progressed(restMs = 0): void {
    this.#progressAt = Math.max(this.#progressAt, this.services.clock.monotonic() + restMs);
  }

  /** Ends the attempt: model and tools are told to stop and are not waited for. */
  stop(): void {
    this.#stop.abort(aborted);
  }

  /** Records that the attempt stalled: the turn starts its next attempt, or fails after too many (B29). */
  resume(reason: string): Promise<TurnOutcome> {
    return this.#session.submit({ type: 'resume_turn', turn: this.ref, reason }, this.ref.id);
  }
}
