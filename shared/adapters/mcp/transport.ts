import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { Config } from '../../domain/config/schema.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import type { Logger } from '../../kit/log.ts';
import { programEnvironment } from '../../kit/process/environment.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { ChildTransport } from './child-transport.ts';
import { errorOutput } from './error-output.ts';

export interface TransportContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The secrets that a server is given; for `Bearer x` also `x` alone. */
export const secretsOf = (
  { environment, headersEnv }: Config['mcp']['servers'][string],
  env: TransportContext['env'],
): readonly string[] => [
  ...environment.flatMap((name) => env[name] ?? []),
  ...Object.values(headersEnv).flatMap((name) => [env[name] ?? '', env[name]?.split(' ').at(-1) ?? '']),
];

/**
 * Creates a transport to a server, not started yet. `field` is its path in the configuration. Throws `invalid` when a required
 * variable is not set.
 */
export const transportTo = (
  server: Config['mcp']['servers'][string],
  field: string,
  { env, clock, log }: TransportContext,
): Transport => {
  const { command, args, cwd, url, environment } = server;
  if (command !== undefined) {
    const given = programEnvironment(env, environment, env.HOME ?? '/');
    const heard = errorOutput(log, clock, secretsOf(server, env));
    return new ChildTransport({ command, args, env: given, cwd, field: `${field}.command`, clock, heard });
  }
  if (url === undefined) throw new NatterError('invalid', `${field}: needs "command" or "url"`, { field });
  const headers = headersOf(server.headersEnv, `${field}.headersEnv`, env);
  return new StreamableHTTPClientTransport(new URL(url), { fetch: boundedFetch, requestInit: { headers } });
};

const headersOf = (
  names: Readonly<Record<string, string>>,
  field: string,
  env: TransportContext['env'],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(names).map(([header, variable]) => {
      const value = env[variable];
      if (value !== undefined) return [header, value];
      const message = `${field}.${header}: the environment variable ${variable} is not set; set it or remove the header`;
      throw new NatterError('invalid', message, { field: `${field}.${header}` });
    }),
  );
