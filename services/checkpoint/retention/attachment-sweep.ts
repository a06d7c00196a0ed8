import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { attachedIn } from '../../../shared/domain/session/attached.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { StoredAttachment } from '../../../shared/ports/objects/attachments.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';

export type SweepPorts = Pick<Ports, 'attachments' | 'events' | 'commands' | 'clock'>;

const dayMs = 86_400_000;
/** Older than this they are looked at; older than that they were, by this process or the one before it. */
const leastAgeMs = dayMs;
const mostAgeMs = 8 * dayMs;
/** How often the queue is asked whether it is empty, and how long between, ms. */
const asks = 30;
const askPauseMs = 1_000;

/**
 * Removes attachments that no message refers to: a content is stored before its message, which a crash may then prevent (ADR 27). One of yesterday
 * whose session says nothing of it never will, if no command waits: the queue was empty after it was stored.
 */
export class AttachmentSweep {
  readonly #ports: SweepPorts;
  readonly #log: Logger;
  /** All up to here have been looked at. */
  #place = 0;
  removed = 0;

  constructor(ports: SweepPorts, log: Logger) {
    this.#ports = ports;
    this.#log = log;
  }

  async run(stopping: AbortSignal): Promise<void> {
    const emptyAt = await this.#queueWasEmpty(stopping);
    if (emptyAt === null) return;
    const { due, place } = await this.#due(emptyAt, stopping);
    let failed = 0;
    for (const [key, stored] of due) {
      if (stopping.aborted) return;
      try {
        await this.#sweep(key, stored);
      } catch (error) {
        failed += 1;
        this.#log.warn({ err: error, key }, 'the attachments of a session could not be checked; the next run tries again');
      }
    }
    if (failed === 0) this.#place = place;
  }

  /** A moment after which the queue was empty; `null`: it is too busy to tell. */
  async #queueWasEmpty(stopping: AbortSignal): Promise<number | null> {
    const { commands, clock } = this.#ports;
    for (let ask = 0; ask < asks && !stopping.aborted; ask++) {
      const now = clock.now();
      if ((await commands.lag()) === 0) return now;
      await clock.sleep(askPauseMs, stopping);
    }
    return null;
  }

  /** Those to look at, by session, and the place before the first that is too new. */
  async #due(now: number, stopping: AbortSignal) {
    const due = new Map<SessionKey, StoredAttachment[]>();
    let place = this.#place;
    for (let more = true; more && !stopping.aborted; ) {
      const page = await this.#ports.attachments.after(place);
      for (const stored of page.stored) {
        if (stored.at > now - leastAgeMs) return { due, place };
        place = stored.place;
        if (stored.at > now - mostAgeMs) due.set(stored.key, [...(due.get(stored.key) ?? []), stored]);
      }
      more = page.more && page.stored.length > 0;
    }
    return { due, place };
  }

  async #sweep(key: SessionKey, stored: readonly StoredAttachment[]): Promise<void> {
    const { events, attachments } = this.#ports;
    const said = new Set<string>();
    // A message that waited long may have come just now, and a replica may not have it yet.
    const through = (await events.last(key))?.seq ?? 0;
    for await (const commit of readThrough(this.#ports, key, { after: 0, through }))
      for (const digest of attachedIn(commit)) said.add(digest);
    for (const one of stored) if (!said.has(one.digest) && (await attachments.remove(one))) this.removed += 1;
  }
}
