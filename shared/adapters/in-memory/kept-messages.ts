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
  #messages: (KeptMessage | null)[] = [];
  readonly #lastByKey = new Map<string, KeptMessage>();
  #unreadable = new Set<number>();
  readonly #givenUp = new Set<number>();

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
    const data = this.#givenUp.has(seq) ? new Uint8Array() : this.#messages[seq - 1]?.data;
    return data === undefined ? null : digestOf(data);
  }

  spoil(seq: number): void {
    this.#unreadable.add(seq);
  }

  forget(key: string, from: number): void {
    for (const { seq } of this.of(key)) if (seq >= from) this.#messages[seq - 1] = null;
    this.#findLast(key);
  }

  /** Loses one message without a trace. */
  lose(seq: number): void {
    const key = this.#messages[seq - 1]?.key;
    this.#messages[seq - 1] = null;
    if (key !== undefined) this.#findLast(key);
  }

  /** Puts other bytes in the place of a message. */
  change(seq: number, data: Uint8Array): void {
    const message = this.#messages[seq - 1];
    if (!message) return;
    this.#messages[seq - 1] = { ...message, data };
    this.#findLast(message.key);
  }

  /** Loses all messages after a sequence. Returns what puts back all that was there, and nothing that came since. */
  rollBack(lastSeq: number): () => void {
    const [messages, unreadable] = [this.#messages, this.#unreadable];
    this.#become(messages.slice(0, lastSeq), new Set([...unreadable].filter((seq) => seq <= lastSeq)));
    return () => this.#become(messages, unreadable);
  }

  /** Fills all places up to a sequence with empty messages that nobody reads, as a person's acceptance of a loss does. */
  giveUp(through: number): void {
    for (let seq = this.#messages.length + 1; seq <= through; seq++) {
      this.#givenUp.add(seq);
      this.#messages.push(null);
    }
  }

  /** Removes a key's messages before a sequence. Returns how many. */
  purge(key: string, before: number): number {
    const purged = this.of(key).filter(({ seq }) => seq < before);
    for (const { seq } of purged) this.#messages[seq - 1] = null;
    return purged.length;
  }

  #become(messages: (KeptMessage | null)[], unreadable: Set<number>): void {
    this.#messages = messages;
    this.#unreadable = unreadable;
    this.#lastByKey.clear();
    for (const message of messages) if (message !== null) this.#lastByKey.set(message.key, message);
  }

  #findLast(key: string): void {
    const last = this.of(key).at(-1);
    if (last) this.#lastByKey.set(key, last);
    else this.#lastByKey.delete(key);
  }
}
