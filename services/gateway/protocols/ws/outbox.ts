import type { WebSocket } from 'ws';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';

/** What goes to one client, with a bounded buffer. */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #stalled: () => void;
  readonly #ended = new AbortController();
  #unread = 0;
  #room: Promise<void> | null = null;
  #emptied = () => {};

  /** `stalled` is called when the client has left a full buffer unread for `limits.streamStallMs`. */
  constructor(socket: WebSocket, clock: Clock, stalled: () => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#stalled = stalled;
  }

  get isFull(): boolean {
    return this.#unread >= limits.streamFrames || this.#socket.bufferedAmount >= limits.streamBytes;
  }

  /**
   * Sends a frame as soon as there is room for it, and calls `sent` in the same step. Resolves with `false` when the connection has ended
   * before that.
   */
  async write(frame: string, sent = () => {}): Promise<boolean> {
    while (this.isFull && !this.#ended.signal.aborted) await this.room();
    if (this.#ended.signal.aborted) return false;
    this.#unread += 1;
    this.#socket.send(frame, () => this.#read());
    sent();
    return true;
  }

  /** Resolves once the client has read everything, or the connection has ended. */
  room(): Promise<void> {
    this.#room ??= this.#waitForRoom().finally(() => {
      this.#room = null;
    });
    return this.#room;
  }

  end(): void {
    this.#ended.abort();
    this.#emptied();
  }

  #read(): void {
    this.#unread -= 1;
    if (this.#unread === 0) this.#emptied();
  }

  async #waitForRoom(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const over = new AbortController();
    this.#emptied = () => over.abort();
    await this.#clock.sleep(limits.streamStallMs, over.signal);
    if (!over.signal.aborted && !this.#ended.signal.aborted) this.#stalled();
  }
}
