import { LRUCache } from 'lru-cache';
import type { Config } from '../../domain/config/schema.ts';
import type { Candidate } from '../../domain/skills/skill.ts';
import type { SkillRef } from '../../domain/values/memory-edit.ts';
import { errorMessage } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { Logger } from '../../kit/log.ts';
import { oneLine } from '../../kit/one-line.ts';
import { type Explanation, eligibleSet, explain, noSkills, type SkillSet, setOf } from './explain.ts';
import { machineFacts } from './facts.ts';
import type { SkillFacts } from './gate.ts';
import { rememberingGate } from './judge.ts';
import { loadSkills } from './load.ts';
import { type SkillRoot, skillRoots } from './locations.ts';
import { toolPlaces, withTools } from './places.ts';
import { watchSkills } from './watch.ts';

export interface LibraryOptions {
  readonly config: Pick<Config, 'agent' | 'skills' | 'tools' | 'dataDir'>;
  /** The process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Natter's own commands. */
  readonly reserved: ReadonlySet<string>;
  readonly roots?: readonly SkillRoot[];
  /** Called each time skills are read. Default: this machine's facts. */
  readonly facts?: () => SkillFacts;
}

/** What a session knows of its skills so far. */
export interface KnownSkills {
  /** False: nothing yet; it starts with the current ones. */
  readonly taken: boolean;
  readonly refs: readonly SkillRef[];
}

/** The skills of an agent: read from disk, kept current, and handed out to sessions (A15/165–166). */
export class SkillLibrary {
  readonly #options: LibraryOptions;
  readonly #roots: readonly SkillRoot[];
  /** Skill sets that sessions may have started with, by their references. */
  readonly #sets = new LRUCache<string, SkillSet>({ max: limits.skillSets });
  readonly #facts: () => SkillFacts;
  readonly #judge = rememberingGate();
  #candidates: readonly Candidate[] = [];
  #explained: readonly Explanation[] = [];
  #current: SkillSet = noSkills;
  #watcher: { close(): Promise<void> } | null = null;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;
  /** Folders that may have changed since the last read; `null`: any. */
  #changed: Set<string> | null = null;

  private constructor(options: LibraryOptions) {
    this.#options = options;
    const { config, env } = options;
    this.#roots = options.roots ?? skillRoots(config);
    this.#facts = options.facts ?? machineFacts(config, withTools(env, config.dataDir));
  }

  /** Reads the skills, and watches them if so configured. An agent without a workspace has none, since it could not read them. */
  static async open(options: LibraryOptions): Promise<SkillLibrary> {
    const library = new SkillLibrary(options);
    const { agent, skills } = options.config;
    if (agent.workspace === undefined) return library;
    if (skills.load.watch) await library.#watch(skills.load.watchDebounceMs);
    await library.refresh();
    return library;
  }

  /** The skills for a session's next turn: the current ones if files are watched or the session is new, else those it has. */
  async take({ taken, refs }: KnownSkills): Promise<SkillSet> {
    if (this.#watcher !== null || this.#options.config.agent.workspace === undefined) return this.#current;
    const kept = taken ? this.#find(refs) : null;
    if (kept) return kept;
    await this.refresh();
    return (taken ? this.#find(refs) : null) ?? this.#current;
  }

  /** The status of each folder that may contain a skill. */
  explain(): readonly Explanation[] {
    return this.#explained;
  }

  /** Why expected skills are missing. */
  problems(): string[] {
    const unusable = this.#explained.filter(({ status }) => status === 'unusable');
    return unusable
      .slice(0, 20)
      .map(({ candidate, reasons }) => oneLine(`skill ${candidate.folder}: ${reasons.join(' ')}`, 1_000));
  }

  /** Reads what may have changed. Calls made during a read share one further read. */
  refresh(): Promise<void> {
    this.#changed = null;
    return this.#readAgain();
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
    await this.#running;
  }

  #readAgain(): Promise<void> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = null;
      this.#running = this.#read();
      return this.#running;
    });
    return this.#waiting;
  }

  async #read(): Promise<void> {
    const { config, log, reserved } = this.#options;
    const changed = this.#changed;
    this.#changed = new Set();
    try {
      const keepOut = [config.agent.workspace, config.dataDir].filter((path) => path !== undefined);
      const known = this.#candidates;
      this.#candidates = await loadSkills({ roots: this.#roots, keepOut, known, ...(changed && { changed }) });
      const before = new Set(this.#explained.map(lineOf));
      this.#explained = explain(this.#candidates, this.#facts(), this.#judge);
      this.#current = eligibleSet(this.#explained, reserved);
      this.#sets.set(keyOf(this.#current.refs), this.#current);
      const news = this.#explained.filter((one) => one.reasons.length > 0 && !before.has(lineOf(one)));
      for (const { candidate, reasons } of news.slice(0, 20))
        log.info({ folder: candidate.folder, reasons }, 'a skill is skipped');
    } catch (error) {
      log.error({ reason: errorMessage(error) }, 'the skills cannot be read; the previous ones stay');
    }
  }

  async #watch(debounceMs: number): Promise<void> {
    const { log, config } = this.#options;
    const folders = this.#roots.filter(({ source }) => source !== 'bundled').map(({ path }) => path);
    this.#watcher = await watchSkills({
      // Installing a program can make a skill eligible.
      places: config.dataDir === undefined ? folders : [...folders, toolPlaces(config.dataDir).bin],
      debounceMs,
      changed: (heard) => {
        this.#changed = heard && this.#changed && new Set([...this.#changed, ...heard]);
        void this.#readAgain();
      },
      failed: (error) => {
        log.warn({ reason: errorMessage(error) }, 'skills are no longer watched; a new session reads them again');
        void this.#watcher?.close();
        this.#watcher = null;
      },
    });
  }

  /** The set with these references: as handed out before, or rebuilt from known skills. `null`: one of them is gone. */
  #find(refs: readonly SkillRef[]): SkillSet | null {
    const key = keyOf(refs);
    const kept = this.#sets.get(key);
    if (kept) return kept;
    const known = new Map([...this.#sets.values()].flatMap(({ told }) => told.map((one) => [keyOf([one.skill]), one] as const)));
    const told = refs.flatMap((ref) => known.get(keyOf([ref])) ?? []);
    if (told.length < refs.length) return null;
    const set = setOf(told, this.#options.reserved);
    this.#sets.set(key, set);
    return set;
  }
}

const keyOf = (refs: readonly SkillRef[]): string => refs.map(({ name, digest }) => `${name} ${digest}`).join('\n');
const lineOf = ({ candidate, reasons }: Explanation): string => `${candidate.folder} ${reasons.join(' ')}`;
