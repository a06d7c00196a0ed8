import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { WebSocket } from 'ws';
import { createClient, NatterApiError, type NatterClient } from '../../shared/client/main.ts';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';
import { type Config, type ConfigSource, loadConfig } from '../../shared/runtime/config/load.ts';
import { installationIn } from './installation.ts';
import type { World } from './terminal.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly config?: string;
  readonly dataDir?: string;
}

/** Where a command's configuration comes from: the file, the environment, and `--data-dir` before both. */
export const sourceOf = ({ env, home }: World, { config, dataDir }: CommonOptions): ConfigSource => ({
  env: dataDir === undefined ? env : { ...env, NATTER_DATA_DIR: dataDir },
  home,
  ...(config !== undefined && { file: config }),
});

/** The configuration a command works with. */
export const configOf = (world: World, options: CommonOptions): Config => loadConfig(sourceOf(world, options));

/** Where the broker of this installation is, for the commands that work there; they would change another system than a `--url` names. */
export const atBroker = (world: World, options: CommonOptions): Config => {
  if (options.url === undefined) return configOf(world, options);
  const advice = 'name that with --data-dir, or NATS_URL';
  throw new NatterError('invalid', `--url: this command works at the broker of an installation, not at a gateway; ${advice}`);
};

/** The gateway and its token: `--url` and `--token` or `--token-file`, else `NATTER_URL` and `NATTER_TOKEN`, else what `natter up` wrote down here. */
export const gatewayOf = (world: World, options: CommonOptions): { url: string; token: string } => {
  const config = configOf(world, options);
  const written = installationIn(config.dataDir).gateway();
  const here = written?.url ?? `http://${config.gateway.host}:${config.gateway.port}`;
  const url = options.url ?? world.env.NATTER_URL ?? here;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new NatterError('invalid', `"${url}" is no address of a gateway; use for example http://127.0.0.1:4600`);
  // The token of the installation here is for the gateway here; another one never gets to see it.
  const own = url === here ? (config.gateway.token ?? written?.token) : undefined;
  const given = options.token ?? (options.tokenFile === undefined ? undefined : tokenIn(options.tokenFile));
  return { url, token: given ?? world.env.NATTER_TOKEN ?? own ?? '' };
};

const tokenIn = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new NatterError('invalid', `--token-file: cannot read ${file}: ${errorMessage(error)}`, { field: 'token-file' });
  }
};

/** A client of that gateway. A command that is to go on trying says so: a person waits for it. */
export const clientOf = (world: World, options: CommonOptions): NatterClient =>
  createClient({ ...gatewayOf(world, options), WebSocket, patienceMs: 0 });

/** What went wrong, and what to do about it. */
export const explained = (error: unknown): string => {
  const message = errorMessage(error);
  if (!(error instanceof NatterApiError)) return message;
  if (error.code === 'unreachable') return `${message}; is it running? Start it with "natter up", or name another with --url`;
  if (error.status === 401)
    return `${message}; give the token with --token-file or NATTER_TOKEN, or use the data directory of "natter up"`;
  return message;
};

/** Reads a whole number of the command line. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`use a whole number from ${least} to ${most}`);
    return value;
  };
