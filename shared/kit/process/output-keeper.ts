/**
 * Keeps the beginning and the end of a program's output, within `bytes`. The middle of a longer output is dropped and counted.
 */
export class OutputKeeper {
  readonly #halfBytes: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #dropped = 0;

  constructor(bytes: number) {
    this.#halfBytes = Math.floor(bytes / 2);
  }

  add(chunk: Buffer): void {
    const room = this.#halfBytes - this.#headBytes;
    const first = chunk.subarray(0, room);
    if (first.length > 0) this.#head.push(first);
    this.#headBytes += first.length;
    const rest = chunk.subarray(first.length);
    if (rest.length > 0) this.#addToTail(rest);
  }

  /** The kept output as text; invalid UTF-8 becomes U+FFFD. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#dropped === 0 && tail.length <= this.#halfBytes) return Buffer.concat([head, tail]).toString();
    const end = tail.subarray(-this.#halfBytes);
    return `${head.toString()}\n[${this.#dropped + tail.length - end.length} bytes are left out here]\n${end.toString()}`;
  }

  /** Cuts the tail only when it has grown to twice its bound, so that not every small chunk costs a copy. */
  #addToTail(chunk: Buffer): void {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    if (this.#tailBytes <= 2 * this.#halfBytes) return;
    const kept = Buffer.from(Buffer.concat(this.#tail).subarray(-this.#halfBytes));
    this.#dropped += this.#tailBytes - kept.length;
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}
