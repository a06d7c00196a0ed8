import type { JetStreamManager } from '@nats-io/jetstream';
import type { StoredMessage } from '../../streams/stored-message.ts';
import { isGone, orNatterError } from './broker-errors.ts';
import { type BatchRequest, readBatch } from './direct-read.ts';
import type { ReplyInbox } from './reply-inbox.ts';

export interface StreamMessagesOptions extends Pick<BatchRequest, 'stream' | 'count' | 'timeoutMs'> {
  readonly inbox: ReplyInbox;
  readonly manager: JetStreamManager;
}

/** The messages of one stream, to be read through and removed. Rejects with `NatterError`. */
export class StreamMessages {
  readonly #options: StreamMessagesOptions;

  constructor(options: StreamMessagesOptions) {
    this.#options = options;
  }

  /** All, or those of a subject, oldest first, from any replica. */
  async *of(subject?: string): AsyncGenerator<StoredMessage> {
    const { inbox, manager: _, ...range } = this.#options;
    for (let after = 0, more = true; more; ) {
      const request = { ...range, after, ...(subject !== undefined && { subject }) };
      const batch = await orNatterError(`read ${range.stream}`, readBatch(inbox, request));
      yield* batch.messages;
      after = batch.messages.at(-1)?.seq ?? after;
      more = batch.more;
    }
  }

  /**
   * Deletes these one by one, which overwrites them on the disk (ADR 8). Those that are gone already are no error. Resolves with how many
   * there are.
   */
  async remove(seqs: readonly number[]): Promise<number> {
    const { manager, stream } = this.#options;
    for (const seq of seqs) {
      const removed = manager.streams.deleteMessage(stream, seq).catch((error: unknown) => {
        // A lagging replica may still show what an earlier run has removed.
        if (!isGone(error)) throw error;
      });
      await orNatterError(`remove a message of ${stream}`, removed);
    }
    return seqs.length;
  }
}
