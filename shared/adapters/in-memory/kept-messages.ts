import type { EventType } from '../../domain/session/events.ts';
import { digestOf } from '../../wire/codec.ts';
import type { StoredMessage } from '../streams/stored-message.ts';

export interface KeptMessage extends StoredMessage {
  readonly key: string;
  readonly headline: EventType;
}

/** The messages of a log in memory, and what a disk or an operator does to them. */
export class KeptMessages {
  /** Message `i` has the sequence `i + 1`; `null` if it is gone. */
  readonly #messages: (KeptMessage | null)[] = [];
  readonly #lastByKey = new Map<string, KeptMessage>();
  readonly #unreadable = new Set<number>();

  add(message: Omit<KeptMessage, 'seq'>): KeptMessage {
    const kept = { ...message, seq: this.#messages.length + 1 };
    this.#messages.push(kept);
    this.#lastByKey.set(kept.key, kept);
    return kept;
  }

  ends(): { firstSeq: number; lastSeq: number } {
    return { firstSeq: this.#messages.findIndex(Boolean) + 1, lastSeq: this.#messages.length };
  }

  isReadable({ seq }: Pick<KeptMessage, 'seq'>): boolean {
    return !this.#unreadable.has(seq);
  }

  /** The readable messages with `after < seq <= end`. */
  readable(after: number, end?: number): KeptMessage[] {
    return this.#messages.slice(after, end).filter((message) => message !== null && this.isReadable(message)) as KeptMessage[];
  }

  of(key: string): KeptMessage[] {
    return this.#messages.filter((message) => message?.key === key) as KeptMessage[];
  }

  lastOf(key: string): KeptMessage | undefined {
    return this.#lastByKey.get(key);
  }

  /** As the broker's fence sees it: a message that it cannot read counts as none. */
  fencedSeqOf(key: string): number {
    const seq = this.#lastByKey.get(key)?.seq ?? 0;
    return this.#unreadable.has(seq) ? 0 : seq;
  }

  digestAt(seq: number): string | null {
    const message = this.#messages[seq - 1];
    return message ? digestOf(message.data) : null;
  }

  spoil(seq: number): void {
    this.#unreadable.add(seq);
  }

  forget(key: string, from: number): void {
    const ours = this.of(key);
    for (const { seq } of ours) if (seq >= from) this.#messages[seq - 1] = null;
    const last = ours.findLast(({ seq }) => seq < from);
    if (last) this.#lastByKey.set(key, last);
    else this.#lastByKey.delete(key);
  }

  /** Removes a key's messages before a sequence. Returns how many. */
  purge(key: string, before: number): number {
    const purged = this.of(key).filter(({ seq }) => seq < before);
    for (const { seq } of purged) this.#messages[seq - 1] = null;
    return purged.length;
  }
}
