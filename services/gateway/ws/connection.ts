import { uuidv7 } from 'uuidv7';
import type { WebSocket } from 'ws';
import { errorMessage, hasCode, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Caller } from '../callers.ts';
import type { OpenCall } from '../callers-open.ts';
import type { GatewayContext } from '../context.ts';
import type { EventFrames } from '../event-frames.ts';
import { type Methods, prepare } from '../rpc.ts';
import { methods } from '../rpc-methods.ts';
import { closeCodes, errorIn, protocolVersion, type RequestFrame, readFrame, reasonOf } from './frames.ts';
import { Outbox } from './outbox.ts';
import { Subscription, Subscriptions } from './subscriptions.ts';

const authenticateMs = 5_000;
const pingMs = 30_000;
/** How long a client whose token has ended may take to read why. */
const cutMs = 2_000;
/** Pings in a row that may stay without an answer. */
const missedPings = 2;

/** What connections work with. */
export interface Door {
  readonly context: GatewayContext;
  readonly frames: EventFrames;
  /** Where the client is. */
  readonly address: string;
  /** Whose token it is. Throws `NatterError('unauthorized')`, and `'overloaded'` for an address that guesses. */
  admit(token: string): Caller;
  /** Is told what this client was refused for. */
  refused(error: unknown): void;
  /** Counts a call. Throws `NatterError('overloaded')` for a caller who makes too many. */
  count(caller: Caller): void;
}

/** One client, from its first frame to its last. What it may is asked anew for each call and each event. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #door: Door;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #methods: Methods;
  readonly #ended = new AbortController();
  /** Calls that are made now: each of them hears that the client has left. */
  readonly #calls = new Set<AbortController>();
  #caller: Caller | null = null;
  #open: OpenCall | null = null;
  #leavePlace = () => {};
  #unansweredPings = 0;

  /** `caller`: who has shown a token already. */
  constructor(socket: WebSocket, door: Door, caller: Caller | null) {
    const { context, frames } = door;
    this.#socket = socket;
    this.#door = door;
    this.#outbox = new Outbox(socket, context.ports.clock, () => this.#sendAway('tooSlow', 'reads too slowly'));
    this.#subscriptions = new Subscriptions({ context, frames, outbox: this.#outbox });
    this.#methods = { ...methods, ...this.#subscriptions.methods };
    // With `binaryType` as it is from the start there is one buffer.
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#unansweredPings = 0;
    });
    socket.on('close', () => this.#end());
    const leave = (): void => this.#sendAway('goingAway', 'the gateway stops');
    context.closing.addEventListener('abort', leave, { once: true, signal: this.#ended.signal });
    if (context.closing.aborted) leave();
    else this.#enter(caller);
    void this.#ping();
  }

  /** Takes a place, and greets whoever is known. Strangers have 5 s, and places that those of their address share. */
  #enter(caller: Caller | null): void {
    const { context } = this.#door;
    try {
      const leavePlace = context.sockets.take(caller?.actor ?? `address:${this.#door.address}`);
      this.#leavePlace();
      this.#leavePlace = leavePlace;
    } catch (error) {
      return this.#close('tooMany', errorMessage(error));
    }
    if (caller === null) return void this.#awaitToken();
    this.#caller = caller;
    this.#open = context.openCalls.begin(caller);
    const { ended } = this.#open;
    ended.addEventListener('abort', () => this.#shutOut(errorMessage(ended.reason)), { signal: this.#ended.signal });
    const { commandBytes: frameBytes, socketCalls: calls, waitSeconds } = limits;
    const hello = { protocol: protocolVersion, version: context.version, limits: { frameBytes, calls, waitSeconds } };
    void this.#send({ type: 'hello', ...hello, methods: Object.keys(this.#methods) });
  }

  #take(message: Buffer, isBinary: boolean): void {
    if (this.#ended.signal.aborted) return;
    try {
      const frame = readFrame(message, isBinary);
      if (frame.type === 'req') this.#request(frame);
      else this.#authenticate(frame.token);
    } catch (error) {
      this.#close('badFrame', errorMessage(error));
    }
    if (this.#outbox.isFull) this.#pause();
  }

  #authenticate(token: string): void {
    if (this.#caller !== null) return this.#close('badFrame', 'type: this connection is authenticated already');
    try {
      this.#enter(this.#door.admit(token));
    } catch (error) {
      this.#door.refused(error);
      this.#close(hasCode(error, 'unauthorized') ? 'unauthorized' : 'tryLater', errorMessage(error));
    }
  }

  #request(frame: RequestFrame): void {
    if (this.#caller === null) return this.#close('unauthorized', 'send {"type":"auth","token":"…"} first');
    void this.#answer(this.#caller, frame);
  }

  /** Makes a call and answers it. Calls do not wait for one another. */
  async #answer(caller: Caller, frame: RequestFrame): Promise<void> {
    const { id, method } = frame;
    const requestId = uuidv7();
    const gone = new AbortController();
    try {
      if (this.#calls.size >= limits.socketCalls) throw new NatterError('overloaded', tooManyCalls);
      this.#calls.add(gone);
      const result = await this.#call(caller, requestId, frame, gone.signal);
      await this.#send({ type: 'res', id, ok: true, result }, () => {
        if (result instanceof Subscription && method === 'subscribe') result.begin();
      });
    } catch (error) {
      this.#door.refused(error);
      await this.#send({ type: 'res', id, ok: false, error: errorIn(error, requestId, this.#door.context.log) });
    } finally {
      this.#calls.delete(gone);
    }
  }

  async #call(caller: Caller, id: string, { method, params }: RequestFrame, signal: AbortSignal): Promise<unknown> {
    const { context } = this.#door;
    this.#door.count(caller);
    const [problem] = context.ports.problems();
    if (problem !== undefined) throw new NatterError('unavailable', problem);
    const call = prepare(this.#methods, method, params);
    const { actor, principal } = caller;
    const done = call.waits ? context.waits.take(actor) : () => {};
    try {
      return await call.run({ context, asker: { id, actor, principal, ip: this.#door.address }, signal });
    } finally {
      done();
    }
  }

  #send(frame: object, sent?: () => void): Promise<boolean> {
    return this.#outbox.write(JSON.stringify(frame), sent);
  }

  /** Reads nothing more from a client that does not read its answers. */
  #pause(): void {
    this.#socket.pause();
    void this.#outbox.room().then(() => this.#socket.resume());
  }

  async #awaitToken(): Promise<void> {
    await this.#door.context.ports.clock.sleep(authenticateMs, this.#ended.signal);
    if (this.#caller === null) this.#close('unauthorized', 'nobody has authenticated within 5 s');
  }

  async #ping(): Promise<void> {
    const { clock } = this.#door.context.ports;
    while (!this.#ended.signal.aborted) {
      await clock.sleep(pingMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      if (this.#unansweredPings >= missedPings) return this.#socket.terminate();
      this.#unansweredPings += 1;
      this.#socket.ping();
    }
  }

  /** Nothing outlives the token, what is sent and not read yet neither. */
  #shutOut(why: string): void {
    this.#sendAway('accessLost', why);
    void this.#door.context.ports.clock.sleep(cutMs).then(() => this.#socket.terminate());
  }

  /** Closes what could go on, so that the client learns where. */
  #sendAway(code: keyof typeof closeCodes, why: string): void {
    const { cursors } = this.#subscriptions;
    this.#close(code, cursors === '' ? why : `${why}; after ${cursors}`);
  }

  #close(code: keyof typeof closeCodes, reason: string): void {
    if (this.#ended.signal.aborted) return;
    this.#end();
    // Who does not read is not read either, but their goodbye has to be.
    this.#socket.resume();
    this.#socket.close(closeCodes[code], reasonOf(reason));
  }

  #end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#leavePlace();
    this.#open?.over();
    this.#subscriptions.end();
    for (const call of this.#calls) call.abort();
    this.#outbox.end();
  }
}

const tooManyCalls = `this connection makes ${limits.socketCalls} calls already; wait for one of them`;
