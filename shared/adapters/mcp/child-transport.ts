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
  /** All that the program gets to know of our environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Where the command stands in the configuration. */
  readonly field: string;
  readonly clock: Clock;
  /** Hears what it writes on its error output. */
  heard(chunk: Buffer): void;
}

/**
 * MCP over the standard input and output of a program. The library's own transport gives a program more of the environment than ours does
 * and ends the first process only; this one has a process group, which ends as a whole.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #options: ChildOptions;
  /** Has no more in it than the bytes since the last message and one chunk: its own bound is never reached. */
  readonly #unread = new ReadBuffer({ maxBufferSize: 2 * limits.mcpMessageBytes });
  /** Bytes since its last message. The library passes over what is no JSON, and that takes time too. */
  #idleBytes = 0;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  /** These two tell the library that this is no HTTP. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }
  readonly stderr = null;

  async start(): Promise<void> {
    const { command, args, env, cwd, heard } = this.#options;
    const child = spawn(command, args, { env: { ...env }, cwd, detached: true, shell: false, stdio: 'pipe' });
    // Before anything else: without file handles left there is an error and no pipes.
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

  /** As the protocol has it: its input ends, then it is asked to, then it is made to. */
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
    // Whoever left the group may keep the pipes open for ever.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    await clock.sleep(limits.programGraceMs, over.signal);
    this.#unread.clear();
  }

  /** One piece in each turn of the event loop: a program that floods must not keep everybody else waiting. */
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

  /** Takes one message; false when there is no whole one left. What is no message is passed over. */
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
    const folder = cwd === undefined ? '' : `, or no folder ${quoted(cwd)}`;
    const reason =
      code === 'ENOENT'
        ? `there is no such program${folder}; install it or give its path`
        : `it does not start: ${code ?? message}`;
    return new NatterError('invalid', `${field}: ${quoted(command)}: ${reason}`, { field });
  }
}
