import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** Server-Sent Events (WHATWG HTML, "server-sent events") over one response, with a bounded buffer. */

const pingMs = 15_000;

/** One frame. `data` is put on one line: JSON has no raw line breaks. */
export const sseFrame = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** The same without a name, which a browser's `EventSource` gives to `onmessage`; the data has it as `type`. */
export const plainFrame = (type: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ type, ...data })}\n\n`;

export class SseStream {
  readonly #raw: ServerResponse;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  #unreadFrames = 0;

  /**
   * Starts the answer. `closing` ends the stream when the gateway stops. An `id` without data sets the client's resume cursor at once; a stream
   * that cannot be resumed has none.
   */
  constructor(
    raw: ServerResponse,
    options: { clock: Clock; headers: Record<string, string>; cursor?: string; closing: AbortSignal },
  ) {
    this.#raw = raw;
    this.#clock = options.clock;
    raw.once('close', () => this.#ended.abort());
    options.closing.addEventListener('abort', () => this.end(), { once: true, signal: this.#ended.signal });
    raw.writeHead(200, {
      ...options.headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const { cursor } = options;
    raw.write(cursor === undefined ? ': begun\n\n' : `id: ${cursor}\n: after ${cursor}\n\n`);
    if (options.closing.aborted || raw.destroyed) this.end();
    void this.#ping();
  }

  /** Aborted once the client is gone or the stream has ended. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Writes a frame. When the client leaves a full buffer unread, waits for it; `false` when it still has not read after
   * `limits.streamStallMs`, or is gone: the caller then ends the stream.
   */
  write(frame: string): boolean | Promise<boolean> {
    if (this.signal.aborted) return false;
    this.#unreadFrames = this.#raw.write(frame) ? 0 : this.#unreadFrames + 1;
    return this.#full ? this.#drained() : true;
  }

  /** Writes a frame that may be lost: a ping, a live piece of text. */
  offer(frame: string): void {
    if (!this.signal.aborted && !this.#full) this.#unreadFrames = this.#raw.write(frame) ? 0 : this.#unreadFrames + 1;
  }

  /** Ends the stream, with a last frame if given. A client that never reads it is cut off after `limits.streamStallMs`. */
  end(lastFrame = ''): void {
    if (this.signal.aborted) return;
    this.#ended.abort();
    const closed = new AbortController();
    this.#raw.once('close', () => closed.abort());
    this.#raw.end(lastFrame);
    void this.#clock.sleep(limits.streamStallMs, closed.signal).then(() => this.#raw.destroy());
  }

  get #full(): boolean {
    return this.#unreadFrames >= limits.streamFrames || this.#raw.writableLength >= limits.streamBytes;
  }

  async #drained(): Promise<boolean> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    let drained = false;
    const onDrain = () => {
      drained = true;
      this.#unreadFrames = 0;
      stop();
    };
    this.#raw.once('drain', onDrain);
    this.signal.addEventListener('abort', stop, { once: true });
    await this.#clock.sleep(limits.streamStallMs, waiting.signal);
    this.#raw.off('drain', onDrain);
    this.signal.removeEventListener('abort', stop);
    return drained && !this.signal.aborted;
  }

  async #ping(): Promise<void> {
    while (!this.signal.aborted) {
      await this.#clock.sleep(pingMs, this.signal);
      this.offer(': ping\n\n');
    }
  }
}
