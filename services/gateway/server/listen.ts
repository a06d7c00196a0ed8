import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';

type Address = Pick<Config['gateway'], 'host' | 'port'>;

/** Why the gateway cannot listen there, and what to do. */
export const cannotListen = ({ host, port }: Address, cause: unknown): NatterError => {
  const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  const problem = isTaken
    ? `port ${port} of ${host} is in use by another program`
    : `the gateway cannot listen at ${host}, port ${port}: ${errorMessage(cause)}`;
  return new NatterError('unavailable', `${problem}; start with natter up --port 0 for a free one, or set gateway.port`, {
    cause,
  });
};

/** Throws that error before anything else has started, where it would only be one problem after many lines. */
export const refuseTakenPort = async ({ host, port }: Address): Promise<void> => {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    throw cannotListen({ host, port }, error);
  } finally {
    server.close();
  }
};
