/** What we use of the package `ws`, which comes without types. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';

  export class WebSocket extends EventEmitter {
    constructor(
      url: string,
      options?: { headers?: Readonly<Record<string, string>>; maxPayload?: number; handshakeTimeout?: number },
    );
    /** Bytes that are handed over and not yet on their way. */
    readonly bufferedAmount: number;
    /** `sent` is called once the message is on its way, or cannot be any more. */
    send(text: string | Buffer, sent?: (error?: Error) => void): void;
    ping(): void;
    /** Stops reading; what has arrived already may still be told. */
    pause(): void;
    resume(): void;
    close(code?: number, reason?: string): void;
    /** Ends the connection without a goodbye. */
    terminate(): void;
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this;
    on(event: 'close', listener: (code: number, reason: Buffer) => void): this;
    on(event: 'open' | 'pong', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'unexpected-response', listener: (request: unknown, response: import('node:http').IncomingMessage) => void): this;
  }

  export interface ServerOptions {
    readonly maxPayload?: number;
    readonly perMessageDeflate?: boolean;
    readonly handleProtocols?: () => string | false;
  }
  export class Server {
    readonly clients: ReadonlySet<WebSocket>;
    close(): void;
  }
}
