import { uuidv7 } from 'uuidv7';
import type { WebSocket } from 'ws';
import { errorMessage, hasCode, NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { TokenBearer } from '../../context/callers.ts';
import type { EventFrames } from '../../context/event-frames.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import type { OpenCall } from '../../context/open-calls.ts';
import { type Methods, prepare } from '../rpc/methods.ts';
import { methods } from '../rpc/table.ts';
import { closeCodes, errorIn, protocolVersion, type RequestFrame, readFrame, reasonOf } from './frames.ts';
import { Outbox } from './outbox.ts';
import { Subscription, Subscriptions } from './subscriptions.ts';

const authenticateMs = 5_000;
const pingMs = 30_000;
/** How long a client has to read why its token has ended. */
const cutMs = 2_000;
/** Maximum number of unanswered pings in a row. */
const missedPings = 2;

/** What a connection needs from the gateway. */
export interface ConnectionGateway {
  readonly context: GatewayContext;
  readonly frames: EventFrames;
  /** The client's address. */
  readonly address: string;
  /** The bearer of a token. Throws `NatterError('unauthorized')`, and `'overloaded'` for an address with too many wrong tokens. */
  admit(token: string): TokenBearer;
  /** Records why this client was refused. */
  refused(error: unknown): void;
  /** Counts a call. Throws `NatterError('overloaded')` for a caller above the rate limit. */
  count(caller: TokenBearer): void;
}

/** One client, from its first frame to its last. Access is checked for each call and each event. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #gateway: ConnectionGateway;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #methods: Methods;
  readonly #ended = new AbortController();
  /** Calls in progress: each is aborted when the client leaves. */
  readonly #calls = new Set<AbortController>();
  #caller: TokenBearer | null = null;
  #open: OpenCall | null = null;
  #release = () => {};
  #unansweredPings = 0;

  /** `caller`: a client that is already authenticated. */
  constructor(socket: WebSocket, gateway: ConnectionGateway, caller: TokenBearer | null) {
    const { context, frames } = gateway;
    this.#socket = socket;
    this.#gateway = gateway;
    this.#outbox = new Outbox(socket, context.ports.clock, () => this.#sendAway('tooSlow', 'reads too slowly'));
    this.#subscriptions = new Subscriptions({ context, frames, outbox: this.#outbox });
    this.#methods = { ...methods, ...this.#subscriptions.methods };
    // With the default `binaryType` a message is one buffer.
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

  /** Acquires the quota, and greets an authenticated client. Others have 5 s, and share the quota of their address. */
  #enter(caller: TokenBearer | null): void {
    const { context } = this.#gateway;
    try {
      const release = context.sockets.acquire(caller?.actor ?? `address:${this.#gateway.address}`);
      this.#release();
      this.#release = release;
    } catch (error) {
      return this.#close('tooMany', errorMessage(error));
    }
    if (caller === null) return void this.#awaitToken();
    this.#caller = caller;
    this.#open = context.openCalls.begin(caller);
    const { ended } = this.#open;
    ended.addEventListener('abort', () => this.#shutOut(errorMessage(ended.reason)));
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
      this.#enter(this.#gateway.admit(token));
    } catch (error) {
      this.#gateway.refused(error);
      this.#close(hasCode(error, 'unauthorized') ? 'unauthorized' : 'tryLater', errorMessage(error));
    }
  }

  #request(frame: RequestFrame): void {
    if (this.#caller === null) return this.#close('unauthorized', 'send {"type":"auth","token":"…"} first');
    void this.#answer(this.#caller, frame);
  }

  /** Makes a call and answers it. Calls do not wait for one another. */
  async #answer(caller: TokenBearer, frame: RequestFrame): Promise<void> {
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
      this.#gateway.refused(error);
      await this.#send({ type: 'res', id, ok: false, error: errorIn(error, requestId, this.#gateway.context.log) });
    } finally {
      this.#calls.delete(gone);
    }
  }

  async #call(caller: TokenBearer, id: string, { method, params }: RequestFrame, signal: AbortSignal): Promise<unknown> {
    const { context } = this.#gateway;
    this.#gateway.count(caller);
    const call = prepare(this.#methods, method, params);
    const { actor, principal } = caller;
    const done = call.waits ? context.waits.acquire(actor) : () => {};
    try {
      return await call.run({ context, caller: { id, actor, principal, ip: this.#gateway.address }, signal });
    } finally {
      done();
    }
  }

  #send(frame: object, sent?: () => void): Promise<boolean> {
    return this.#outbox.write(JSON.stringify(frame), sent);
  }

  /** Stops reading from a client that does not read its answers. */
  #pause(): void {
    this.#socket.pause();
    void this.#outbox.room().then(() => this.#socket.resume());
  }

  async #awaitToken(): Promise<void> {
    await this.#gateway.context.ports.clock.sleep(authenticateMs, this.#ended.signal);
    if (this.#caller === null) this.#close('unauthorized', 'nobody has authenticated within 5 s');
  }

  async #ping(): Promise<void> {
    const { clock } = this.#gateway.context.ports;
    while (!this.#ended.signal.aborted) {
      await clock.sleep(pingMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      if (this.#unansweredPings >= missedPings) return this.#socket.terminate();
      this.#unansweredPings += 1;
      this.#socket.ping();
    }
  }

  /** Nothing outlives the token, not even unread frames. */
  #shutOut(why: string): void {
    this.#sendAway('accessLost', why);
    void this.#gateway.context.ports.clock.sleep(cutMs).then(() => this.#socket.terminate());
  }

  /** Closes a connection that could be resumed, and tells the client where. */
  #sendAway(code: keyof typeof closeCodes, why: string): void {
    const { cursors } = this.#subscriptions;
    this.#close(code, cursors === '' ? why : `${why}; after ${cursors}`);
  }

  #close(code: keyof typeof closeCodes, reason: string): void {
    if (this.#ended.signal.aborted) return;
    this.#end();
    // A paused client is not read, but its closing frame must be.
    this.#socket.resume();
    this.#socket.close(closeCodes[code], reasonOf(reason));
  }

  #end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#release();
    this.#open?.over();
    this.#subscriptions.end();
    for (const call of this.#calls) call.abort();
    this.#outbox.end();
  }
}

const tooManyCalls = `this connection makes ${limits.socketCalls} calls already; wait for one of them`;
