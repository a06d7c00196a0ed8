import type { FastifyRequest } from 'fastify';
import type { Config } from '../../../shared/domain/config/schema.ts';

/** The names by which this machine reaches the gateway. The host of a request proves nothing: any name can resolve to this machine (DNS rebinding). */
const isLocal = (origin: string, host: string, port: number | undefined): boolean =>
  [host, '127.0.0.1', 'localhost', '::1'].some((name) => origin === `http://${name.includes(':') ? `[${name}]` : name}:${port}`);

/** Whether a request comes from the gateway's own page: from an address of this machine, or from `gateway.publicUrl`. */
export const isOwnOrigin = (
  { headers: { origin }, socket }: Pick<FastifyRequest, 'headers' | 'socket'>,
  { host, publicUrl }: Pick<Config['gateway'], 'host' | 'publicUrl'>,
): boolean => origin !== undefined && (origin === publicUrl || isLocal(origin, host, socket.localPort));
