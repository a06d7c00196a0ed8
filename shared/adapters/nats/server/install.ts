import { NatterError } from '../../../kit/errors.ts';
import { type Environment, resolveServer, type ServerBinary } from './resolve.ts';

/** Finds a nats-server that is new enough. */
export const obtainServer = async (environment: Environment, progress: (message: string) => void): Promise<ServerBinary> => {
  const found = await resolveServer(environment, progress);
  if (found === null) throw new NatterError('unsupported', 'no nats-server was found: set NATS_SERVER_BIN');
  return found;
};
