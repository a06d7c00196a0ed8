import type { InMemorySystem } from '../../../shared/adapters/in-memory/open.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import type { ModelRequest } from '../../../shared/domain/prompt/model-request.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { PlainState } from '../../../shared/domain/session/fold/evolve.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Damage, Effect, History, Loss, ModelCall, Rollback, Sent, Told } from '../history.ts';
import type { Process, Spy } from './process.ts';

/** Things worth a note that no checker needs: they show that a run was not idle. */
export type Mark =
  | 'ambiguous append'
  | 'snapshot read'
  | 'host killed'
  | 'zombie went on'
  | 'graceful stop'
  | 'outage'
  | 'done came again'
  | 'commit damaged'
  | 'log went back'
  | 'loss accepted';

/** What the model has said in this turn before: what stands behind the message that it answers. Others may have said something since. */
const stepsOf = ({ messages, prompt }: ModelRequest): string[] => {
  const asked = messages.findLastIndex(({ role, text }) => role === 'user' && text === prompt);
  return messages.slice(asked + 1).flatMap(({ role, text }) => (role === 'assistant' ? [text] : []));
};

/** Writes the history of a run down. */
export class Recorder {
  readonly #system: InMemorySystem;
  readonly #clock: Clock;
  readonly commits: RecordedCommit[] = [];
  readonly sent: Sent[] = [];
  readonly told: Told[] = [];
  readonly modelCalls: ModelCall[] = [];
  readonly effects: Effect[] = [];
  readonly snapshots: { host: string; key: string; state: PlainState }[] = [];
  readonly loads: { host: string; key: string; rev: number }[] = [];
  readonly writes = new Map<string, number>();
  readonly damages: Damage[] = [];
  readonly rollbacks: { at: number; to: number; written: readonly RecordedCommit[]; reads: Rollback['reads'][number][] }[] = [];
  readonly losses: Loss[] = [];
  /** The log has an older copy now. */
  isBack = false;
  /** How far the witness of the writers says that the log had reached. */
  witnessed = 0;
  readonly residents: { host: string; resident: number; limit: number }[] = [];
  readonly marks = new Map<Mark, number>();
  /** What happened, for people. */
  readonly trace: string[] = [];

  constructor(system: InMemorySystem, clock: Clock) {
    this.#system = system;
    this.#clock = clock;
  }

  /** The end of the log now. */
  position(): number {
    return this.upToDate().at(-1)?.seq ?? 0;
  }
  upToDate(): readonly RecordedCommit[] {
    if (this.isBack) return this.commits;
    const fresh = this.#system.events.stored(this.commits.at(-1)?.seq);
    for (const commit of fresh) {
      this.commits.push(commit);
      this.note(
        `commit ${commit.seq} ${commit.key} rev ${commit.rev} by ${commit.actor}: ${commit.events.map(({ type }) => type)}`,
      );
    }
    return this.commits;
  }

  note(text: string): void {
    this.trace.push(`${String(this.#clock.monotonic().toFixed(0)).padStart(7)} ${text}`);
  }
  mark(mark: Mark): void {
    this.marks.set(mark, (this.marks.get(mark) ?? 0) + 1);
  }

  /** The store did this to a commit. */
  damage(damage: Omit<Damage, 'at' | 'loads'>): void {
    this.damages.push({ ...damage, at: this.position(), loads: this.loads.length });
    this.mark('commit damaged');
    this.note(`commit ${damage.seq} ${damage.key} rev ${damage.rev} is ${damage.how} from now on`);
  }

  /** An older copy takes the log's place. The result takes down what became of it until the newer one is put back. */
  rollBack(to: number): () => void {
    const rollback = { at: this.position(), to, written: [] as readonly RecordedCommit[], reads: [] };
    this.rollbacks.push(rollback);
    this.isBack = true;
    this.mark('log went back');
    this.note(`the log goes back from ${rollback.at} to ${to}`);
    return () => {
      rollback.written = this.#system.events.stored(to);
      this.isBack = false;
      this.note('the newer log is put back');
    };
  }

  /** The end of the log is lost: what was recorded there counts as acknowledged no longer. */
  lose(to: number, sawIt: ReadonlySet<string>): void {
    const log = [...this.upToDate()];
    const lost = new Set(log.flatMap(({ seq, command }) => (seq > to ? [command.id] : [])));
    for (const sent of this.sent)
      if (lost.has(sent.envelope.id)) Object.assign(sent, { acknowledged: false, order: null, isLost: true });
    this.losses.push({ to, at: this.position(), log, sawIt });
  }

  /** A person has accepted it: the log is what is left. */
  accepted(to: number): void {
    this.commits.splice(this.commits.findIndex(({ seq }) => seq > to));
    this.mark('loss accepted');
  }

  /** A command about to be sent. */
  send(envelope: CommandEnvelope, client: string): Sent {
    const sent: Sent = { envelope, client, from: this.position(), acknowledged: false, order: null };
    this.sent.push(sent);
    return sent;
  }

  spyOn(process: Process): Spy {
    /** Keys whose damage the process looks at: that loads nothing. */
    const surveyed = new Set<string>();
    return {
      tell: (_, answer) => {
        const at = this.position();
        const key = this.sent.find(({ envelope }) => envelope.id === answer.commandId)?.envelope.key ?? '';
        this.told.push({ host: process.name, key, answer, at });
        this.note(`${process.name} tells ${answer.commandId} ${answer.outcome} ${answer.code ?? ''}`);
      },
      send: ({ id }) => {
        if (!this.writes.has(id)) this.writes.set(id, this.loads.length);
      },
      append: ({ kind }) => {
        if (kind === 'unknown') this.mark('ambiguous append');
      },
      snapshotPut: async (key, state) => {
        this.note(`${process.name} writes snapshot of ${key} at ${state.position.seq}`);
        this.snapshots.push({ host: process.name, key, state });
      },
      witnessed: (seq) => {
        this.witnessed = Math.max(this.witnessed, seq);
      },
      read: (after, { seq, id }) => {
        if (this.isBack) this.rollbacks.at(-1)?.reads.push({ reader: process.name, after, seq, id });
      },
      handling: ({ key, data }) => {
        if (data.type === 'repair_history') surveyed.add(key);
        return () => surveyed.delete(key);
      },
      snapshotGot: (key, state) => {
        if (state !== null) this.mark('snapshot read');
        if (surveyed.has(key)) return;
        this.loads.push({ host: process.name, key, rev: state?.position.rev ?? 0 });
      },
    };
  }

  /** The model of one process, every call of it recorded. */
  watched(model: Model, process: Process): Model {
    return {
      name: model.name,
      windowTokens: model.windowTokens,
      step: (request, onText, signal) => {
        const { key, turn, step, prompt, purpose } = request;
        const at = this.position();
        this.modelCalls.push({ host: process.name, key, turn, step, purpose, prompt, steps: stepsOf(request), at });
        this.note(`${process.name} takes step ${step} of ${turn.id}/${turn.attempt}`);
        return model.step(request, onText, signal);
      },
      ...(model.instantly && { instantly: model.instantly.bind(model) }),
    };
  }

  /** Something that a tool does to the world. */
  effect(effect: Omit<Effect, 'at'>): void {
    this.effects.push({ ...effect, at: this.position() });
    this.note(`${effect.host} makes ${effect.callId} of ${effect.turn.id}/${effect.turn.attempt}: ${effect.tool}`);
  }

  history(index: readonly IndexRow[] | null, unfinished: number): History {
    this.position();
    const { commits, sent, told, modelCalls, effects, snapshots, loads, writes, damages, rollbacks, losses, residents } = this;
    return {
      commits,
      sent,
      told,
      modelCalls,
      effects,
      snapshots,
      loads,
      writes,
      damages,
      rollbacks,
      losses,
      residents,
      index,
      unfinished,
    };
  }
}
