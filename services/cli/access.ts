import { InvalidArgumentError } from 'commander';
import { type Config, type ConfigSource, loadConfig } from '../../shared/config/load.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { type ApiClient, createClient } from './api-client.ts';
import { installationIn } from './installation.ts';
import type { World } from './terminal.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly url?: string;
  readonly token?: string;
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

/** The gateway and its token: `--url` and `--token`, else `NATTER_URL` and `NATTER_TOKEN`, else what `natter up` wrote down here. */
export const gatewayOf = (world: World, options: CommonOptions): { url: string; token: string } => {
  const config = configOf(world, options);
  const written = installationIn(config.dataDir).gateway();
  const url = options.url ?? world.env.NATTER_URL ?? written?.url ?? `http://${config.gateway.host}:${config.gateway.port}`;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new NatterError('invalid', `"${url}" is no address of a gateway; use for example http://127.0.0.1:4600`);
  // The token of the installation here is for the gateway here; another one never gets to see it.
  const own = url === written?.url || (options.url === undefined && world.env.NATTER_URL === undefined);
  return { url, token: options.token ?? config.gateway.token ?? (own ? written?.token : undefined) ?? '' };
};

/** A client of that gateway. */
export const clientOf = (world: World, options: CommonOptions): ApiClient => createClient(gatewayOf(world, options));

/** Reads a whole number of the command line. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`use a whole number from ${least} to ${most}`);
    return value;
  };
