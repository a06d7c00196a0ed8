import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { TurnView } from '../../../shared/domain/prompt/conversation-message.ts';
import type { CallResult } from '../../../shared/domain/session/commands.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Position } from '../../../shared/domain/session/fold/evolve.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';
import { Conversation } from './conversation.ts';

/** The size at which the cache counts an empty conversation, in characters. */
const baseCharacters = 1_000;

type ReadPosition = Pick<Position, 'seq' | 'contextSeq' | 'skips'>;

/** The running turn, and results of its calls that are not recorded yet. */
export interface Reader {
  readonly id: string;
  readonly held?: readonly CallResult[];
}

/** A cache of the conversations of a host's sessions. Each is read from the log once and then extended. */
export class Conversations {
  readonly #log: { readonly events: EventLog; readonly clock: Clock };
  readonly #cache = new LRUCache<SessionKey, Conversation>({
    maxSize: limits.cachedContextCharacters,
    sizeCalculation: ({ characters }) => baseCharacters + characters,
  });

  constructor({ events, clock }: { readonly events: EventLog; readonly clock: Clock }) {
    this.#log = { events, clock };
  }

  /** The turn's view of the conversation, with everything recorded up to `position`. Rejects if the turn is over. */
  async read(key: SessionKey, turn: Reader, position: ReadPosition): Promise<TurnView> {
    const known = this.#cache.get(key);
    const isCurrent = known?.isWhole && (await this.#extend(key, known, position.seq)) && known.isWhole;
    const view = isCurrent ? known.view(turn.id, turn.held) : null;
    if (view) return view;
    return (await this.#load(key, turn, position, position.contextSeq)) ?? (await this.#loadAll(key, turn, position));
  }

  /** Adds a commit that was just recorded to the cached conversation, or begins one, which then need not read it. */
  note(commit: RecordedCommit, isRunning: boolean): void {
    const known = this.#cache.peek(commit.key) ?? (isRunning && commit.rev === 1 ? new Conversation() : undefined);
    if (!known?.isNext(commit)) return;
    known.add(commit);
    this.#keep(commit.key, known);
  }

  /** Drops the conversation of a session that was passivated. */
  forget(key: SessionKey): void {
    this.#cache.delete(key);
  }

  async #loadAll(key: SessionKey, turn: Reader, position: ReadPosition): Promise<TurnView> {
    const view = await this.#load(key, turn, position, 1);
    if (view === null) throw new Error(`turn ${turn.id} is not the one that runs in ${key} at ${position.seq}`);
    return view;
  }

  /** Reads from a sequence on. Resolves with `null` if the turn needs earlier commits. */
  async #load(key: SessionKey, turn: Reader, { seq, skips }: ReadPosition, from: number): Promise<TurnView | null> {
    const conversation = new Conversation();
    const stops = [...skips.map(({ after }) => after), seq];
    const starts = [Math.max(0, from - 1), ...skips.map(({ until }) => until - 1)];
    for (const [index, after] of starts.entries()) {
      const through = stops[index] ?? seq;
      if (after >= through) continue;
      for await (const commit of readThrough(this.#log, key, { after, through })) {
        if (commit.seq > through) break;
        conversation.add(commit);
      }
    }
    const view = conversation.isWhole ? conversation.view(turn.id, turn.held) : null;
    if (view) this.#keep(key, conversation);
    return view;
  }

  /** Reads a conversation up to a sequence. Resolves with false if the commits do not follow it. */
  async #extend(key: SessionKey, known: Conversation, seq: number): Promise<boolean> {
    if (known.seq >= seq) return true;
    for await (const commit of readThrough(this.#log, key, { after: known.seq, through: seq })) {
      // A concurrent reader, or `note`, may already have added it.
      if (commit.seq <= known.seq) continue;
      if (commit.seq > seq) break;
      if (!known.isNext(commit)) return false;
      known.add(commit);
    }
    this.#keep(key, known);
    return true;
  }

  /** Stores it again, because the cache measures an entry only when it is set. */
  #keep(key: SessionKey, conversation: Conversation): void {
    this.#cache.delete(key);
    this.#cache.set(key, conversation);
  }
}
