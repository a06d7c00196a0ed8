import { type ChildProcess, spawn } from 'node:child_process';
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { quoted } from '../../kit/one-line.ts';
import { killGroup } from '../../kit/process/program.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** The path of the command in the configuration. */
  readonly field: string;
  readonly clock: Clock;
  /** Called with each chunk of its error output. */
  heard(chunk: Buffer): void;
}

/**
 * MCP over the standard input and output of a program. Unlike the library's own transport, it limits the program's environment
 * and kills the whole process group, not just the first process.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #options: ChildOptions;
  /** Never holds more than the bytes since the last message plus one chunk, so its own bound is not reached. */
  readonly #unread = new ReadBuffer({ maxBufferSize: 2 * limits.mcpMessageBytes });
  /** Bytes since its last message. The library skips input that is not JSON, which costs time too. */
  #idleBytes = 0;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  /** `pid` and `stderr` tell the library that this is not an HTTP transport. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }
  readonly stderr = null;

  async start(): Promise<void> {
    const { command, args, env, cwd, heard } = this.#options;
    const child = spawn(command, args, { env: { ...env }, cwd, detached: true, shell: false, stdio: 'pipe' });
    // Must come first: without free file handles there is an error and no pipes.
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => reject(this.#noStart(error)));
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', () => resolve()));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.stderr.on('data', heard);
    child.stdout.on('data', (chunk: Buffer) => this.#read(child, chunk));
    child.once('exit', () => killGroup(child, 'SIGKILL'));
    child.once('close', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) throw new NatterError('unavailable', 'the program has ended');
    input.write(serializeMessage(message));
    if (input.writableLength > limits.mcpMessageBytes) void this.close();
  }

  /** Closes as the protocol says: end of input, then SIGTERM, then SIGKILL. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const { clock } = this.#options;
    const over = new AbortController();
    void this.#ended.then(() => over.abort());
    child.stdin?.end();
    await clock.sleep(limits.programDrainMs, over.signal);
    if (!over.signal.aborted) killGroup(child, 'SIGTERM');
    await clock.sleep(limits.programGraceMs, over.signal);
    if (!over.signal.aborted) killGroup(child, 'SIGKILL');
    // A process that left the group may keep the pipes open for ever.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    await clock.sleep(limits.programGraceMs, over.signal);
    this.#unread.clear();
  }

  /** Reads one chunk per turn of the event loop, so that a program that floods us does not block everything else. */
  #read(child: ChildProcess, chunk: Buffer): void {
    this.#idleBytes += chunk.length;
    if (this.#idleBytes > limits.mcpMessageBytes) {
      this.onerror?.(new Error(`more than ${limits.mcpMessageBytes} bytes without a message`));
      child.stdout?.destroy();
      return void this.close();
    }
    this.#unread.append(chunk);
    child.stdout?.pause();
    for (let more = true; more; ) more = this.#next();
    setImmediate(() => child.stdout?.resume());
  }

  /** Handles one message; false when no complete one is left. Invalid input is skipped. */
  #next(): boolean {
    try {
      const message = this.#unread.readMessage();
      if (message === null) return false;
      this.#idleBytes = 0;
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  }

  #noStart({ code, message }: NodeJS.ErrnoException): NatterError {
    const { field, command, cwd } = this.#options;
    const folder = cwd === undefined ? '' : `, or the folder ${quoted(cwd)} does not exist`;
    const reason =
      code === 'ENOENT'
        ? `there is no such program${folder}; install it or give its path`
        : `it does not start: ${code ?? message}`;
    return new NatterError('invalid', `${field}: ${quoted(command)}: ${reason}`, { field });
  }
}
