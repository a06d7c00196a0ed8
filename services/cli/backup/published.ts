import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Subjects } from '../../../shared/wire/subjects.ts';
import { ArchiveWriter } from './archive.ts';
import type { FileEntry } from './manifest.ts';
import { StreamFileWriter } from './stream-file.ts';

/** Bytes that may wait for the disk. */
const waitingBytes = 64 * 1024 ** 2;

/**
 * Notes each command and timer that is published while a backup runs. A session that starts a run publishes a command and then records that
 * it did: without this the record could be in the backup of the log, and the command in no file, if it came after the queue's snapshot and
 * was done before the next one.
 */
export class PublishedMessages {
  readonly #connection: NatsConnection;
  readonly #writer: StreamFileWriter;
  readonly #archive = new ArchiveWriter();
  readonly #subscriptions: Subscription[];
  #seq = 0;
  #waiting = 0;
  #failure: unknown = null;
  #written: Promise<void>;

  private constructor(connection: NatsConnection, subjects: Subjects, writer: StreamFileWriter) {
    this.#connection = connection;
    this.#writer = writer;
    const state = { messages: 0, bytes: 0, first_seq: 0, last_seq: 0 };
    this.#written = writer.write(this.#archive.start(state));
    const note = (error: Error | null, message: Msg): void => (error === null ? this.#note(message) : this.#fail(error));
    const filters = [subjects.published('commands'), subjects.publishedTimers];
    this.#subscriptions = filters.map((filter) => connection.subscribe(filter, { callback: note }));
  }

  /** Listens from when this resolves. */
  static async start(connection: NatsConnection, subjects: Subjects, folder: string): Promise<PublishedMessages> {
    const published = new PublishedMessages(connection, subjects, await StreamFileWriter.create(folder, 'published.nats'));
    await connection.flush();
    return published;
  }

  /** Ends the file. Everything that the broker had taken before is in it. */
  async end(): Promise<FileEntry> {
    await this.#connection.flush();
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#write(this.#archive.end());
    await this.#written;
    if (this.#failure !== null) throw this.#failure;
    const { file, bytes, sha256 } = await this.#writer.end();
    return { file, bytes, sha256 };
  }

  async close(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    await this.#written;
    await this.#writer.close();
  }

  #note(message: Msg): void {
    const lines = [...(message.headers ?? [])].flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`));
    const packed = this.#archive.add({
      name: message.subject,
      seq: ++this.#seq,
      timeNanos: BigInt(Date.now()) * 1_000_000n,
      header: lines.length === 0 ? Buffer.alloc(0) : Buffer.from(`NATS/1.0\r\n${lines.join('')}\r\n`),
      payload: Buffer.from(message.data),
    });
    if (packed !== null) this.#write(packed);
  }

  #write(packed: Buffer): void {
    this.#waiting += packed.length;
    if (this.#waiting > waitingBytes)
      return this.#fail(new NatterError('overloaded', 'more is published than can be written down; back up at a quieter time'));
    this.#written = this.#written
      .then(() => this.#writer.write(packed))
      .then(
        () => {
          this.#waiting -= packed.length;
        },
        (error: unknown) => this.#fail(error),
      );
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }
}
