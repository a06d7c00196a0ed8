import { existsSync, readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { type ClientOptions, createClient, NatterApiError, type NatterClient } from '../../shared/client/main.ts';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';
import { type Config, type ConfigSource, loadConfig } from '../../shared/runtime/config/load.ts';
import { installationIn, isAlive } from './installation.ts';
import type { World } from './terminal.ts';

/** The options every command takes. */
export interface CommonOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly config?: string;
  readonly dataDir?: string;
  /** Print times in UTC. */
  readonly utc?: boolean;
}

/** The sources of a command's configuration: `--data-dir`, then the environment, then the file. */
export const sourceOf = ({ env, home }: World, { config, dataDir }: CommonOptions): ConfigSource => ({
  env: dataDir === undefined ? env : { ...env, NATTER_DATA_DIR: dataDir },
  home,
  ...(config !== undefined && { file: config }),
});

/** The configuration of a command. */
export const configOf = (world: World, options: CommonOptions): Config => loadConfig(sourceOf(world, options));

/** The same with the port in use: that of the gateway that runs in this data directory, if one does. */
export const asRunning = (config: Config): Config => {
  const { url, pid } = installationIn(config.dataDir).gateway() ?? {};
  if (url === undefined || !isAlive(pid)) return config;
  return { ...config, gateway: { ...config.gateway, port: Number(new URL(url).port) } };
};

/** The key of the main session. */
export const mainSessionKey = ({ agent, session }: Pick<Config, 'agent' | 'session'>): string =>
  `agent:${agent.id}:${session.mainKey}`;

/** The configuration of a command that works at this installation's broker. Throws when `--url` is given: it could name another system. */
export const atBroker = (world: World, options: CommonOptions): Config => {
  if (options.url === undefined) return configOf(world, options);
  const advice = 'use --data-dir or NATS_URL to name the installation';
  throw new NatterError('invalid', `--url: this command works at the broker, not at a gateway; ${advice}`);
};

/** The gateway and its token: `--url` and `--token` or `--token-file`, else `NATTER_URL` and `NATTER_TOKEN`, else what `natter up` stored here. */
export const gatewayOf = (world: World, options: CommonOptions): { url: string; token: string } => {
  const config = configOf(world, options);
  const written = installationIn(config.dataDir).gateway();
  const here = written?.url ?? `http://${config.gateway.host}:${config.gateway.port}`;
  const url = options.url ?? (world.env.NATTER_URL || here);
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new NatterError(
      'invalid',
      `"${url}" is not the address of a gateway; set --url or NATTER_URL to one such as http://127.0.0.1:4600`,
    );
  // The token of the installation here is for the gateway here; another one never gets to see it.
  const own = new URL(url).origin === new URL(here).origin ? (config.gateway.token ?? written?.token) : undefined;
  const given = options.token ?? (options.tokenFile === undefined ? undefined : tokenIn(options.tokenFile));
  const token = given ?? (world.env.NATTER_TOKEN || own || '');
  if (url === here && token === '') refuseMissing(world, options, config);
  return { url, token };
};

/** What is in a folder that somebody names is missed sooner than the gateway: without the folder there is no token. */
const refuseMissing = ({ env }: World, { dataDir }: CommonOptions, config: Config): void => {
  if (!(dataDir ?? env.NATTER_DATA_DIR) || existsSync(config.dataDir)) return;
  const source = dataDir === undefined ? 'NATTER_DATA_DIR' : '--data-dir';
  const advice = '"natter up" makes it when it starts there';
  throw new NatterError('invalid', `${source}: the folder ${config.dataDir} does not exist; ${advice}`);
};

const tokenIn = (file: string): string => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new NatterError('invalid', `--token-file: cannot read ${file}: ${errorMessage(error)}`, { field: 'token-file' });
  }
  if (/^[ -~]+$/.test(text)) return text;
  throw new NatterError('invalid', `--token-file: ${file} holds no token, which is one line of ASCII`, { field: 'token-file' });
};

/** A client of that gateway. It does not retry unless a call asks for it: a person is waiting. */
export const clientOf = (world: World, options: CommonOptions, more: Pick<ClientOptions, 'WebSocket'> = {}): NatterClient =>
  createClient({ ...gatewayOf(world, options), ...more, patienceMs: 0 });

/** What went wrong, and how to fix it. */
export const explained = (error: unknown): string => {
  const message = errorMessage(error);
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
    return `${message}; free space and run it again (docs/operate/operations.md, "The disk was full")`;
  if (!(error instanceof NatterApiError)) return message;
  if (error.code === 'unreachable') return `${message}; is it running? Start it with "natter up", or use --url for another one`;
  if (error.status === 401)
    return `${message}; pass the token with --token-file or NATTER_TOKEN, or use the data directory of "natter up"`;
  const [reason] = error.reasons;
  return reason === undefined || reason.fix === '' ? message : `${message}; ${reason.fix}`;
};

/** Parses an option that is a whole number in a range. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}`);
    return value;
  };
