import { createHash } from 'node:crypto';
import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { Clock } from '../../kit/clock.ts';
import { type Attachments, attachmentRefreshMs, type StoredAttachment } from '../../ports/objects/attachments.ts';

interface Kept extends StoredAttachment {
  readonly content: Uint8Array;
}

/** Attachments in this process; several hosts share one. */
export class InMemoryAttachments implements Attachments {
  readonly #clock: Clock;
  /** In the order of their places. */
  readonly #kept = new Map<string, Kept>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async put(key: SessionKey, content: Uint8Array): Promise<string> {
    const digest = createHash('sha256').update(content).digest('hex');
    const name = `${key}/${digest}`;
    const known = this.#kept.get(name);
    const at = this.#clock.now();
    if (known === undefined || at - known.at >= attachmentRefreshMs) {
      this.#kept.delete(name);
      this.#kept.set(name, { key, digest, at, place: ++this.#last, content: known?.content ?? Uint8Array.from(content) });
    }
    return digest;
  }

  async get(key: SessionKey, digest: string): Promise<Uint8Array | null> {
    return this.#kept.get(`${key}/${digest}`)?.content ?? null;
  }

  async after(place: number): Promise<{ stored: StoredAttachment[]; more: boolean }> {
    return { stored: [...this.#kept.values()].filter((one) => one.place > place).map(listed), more: false };
  }

  async of(key: SessionKey): Promise<StoredAttachment[]> {
    return [...this.#kept.values()].filter((one) => one.key === key).map(listed);
  }

  async remove({ key, digest, place }: StoredAttachment): Promise<boolean> {
    const name = `${key}/${digest}`;
    const known = this.#kept.get(name);
    if (known !== undefined && known.place !== place) return false;
    this.#kept.delete(name);
    return true;
  }
}

const listed = ({ key, digest, place, at }: Kept): StoredAttachment => ({ key, digest, place, at });
