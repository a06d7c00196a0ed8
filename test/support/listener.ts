import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** A listener for `createServer` that may answer later. When it fails, the test run fails with an unhandled rejection. */
export const listener =
  (answer: (request: IncomingMessage, response: ServerResponse) => unknown): RequestListener =>
  (request, response) =>
    void answer(request, response);
