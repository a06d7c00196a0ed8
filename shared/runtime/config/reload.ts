import { existsSync, type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../../kit/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { Config } from './load.ts';

/** A value that may change while we run. Call `current` each time it is needed; do not keep the result. */
export interface Current<T> {
  current(): T;
  /** Calls `heard` with the dotted paths of changed values that have taken effect, until the returned function is called. */
  changes?(heard: (keys: readonly string[]) => void): () => void;
}

/** A value that never changes, for tests and for programs that read their configuration once. */
export const fixed = <T>(value: T): Current<T> => ({ current: () => value });

/** A snapshot of the configuration whose `session` part stays live: unlinking an identity takes effect at once (A3/29, I12). */
export const withLiveSession = (config: Current<Config>): Config => ({
  ...config.current(),
  get session() {
    return config.current().session;
  },
});

/** A configuration that follows its file until it is closed. */
export interface LiveConfig extends Current<Config> {
  /** Reads the file again now. */
  reload(): void;
  close(): void;
}

/** Editors write in several steps and replace the file: events within this time count as one change. */
const settleMs = 100;

/** The session settings that are fixed at start: a cache size, a folder, and the key that lists are built with. */
const fixedIn = ({ mainKey, residents, store }: Config['session']) => ({ mainKey, residents, store });

/** The gateway settings that are fixed once it listens; tokens and limits are looked up on each call. */
const fixedGatewaySettings = ({ host, port, token, allowPublicBind, trustedProxies, maxConnections }: Config['gateway']) => ({
  ...{ host, port, token, allowPublicBind, trustedProxies, maxConnections },
});

/**
 * The parts of a newly read configuration that take effect at once. Everything else stays as it was at the start: connections,
 * ports, files.
 */
const applied = (running: Config, read: Config): Config => ({
  ...running,
  gateway: { ...read.gateway, ...fixedGatewaySettings(running.gateway) },
  session: { ...read.session, ...fixedIn(running.session) },
  agent: { ...running.agent, owners: read.agent.owners, names: read.agent.names },
  model: { ...running.model, aliases: read.model.aliases },
  channels: read.channels,
  log: read.log,
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Dotted paths of the values that differ; a list counts as one value. */
export const differences = (before: unknown, after: unknown, path = ''): string[] => {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [path];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => differences(before[name], after[name], path === '' ? name : `${path}.${name}`));
};

const untaken = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, child]) => [name, untaken(child)])) : undefined;

/** Dotted paths of the values of a configuration that a change of the file reaches while we run. */
export const takenAtOnce = (config: Config): ReadonlySet<string> =>
  new Set(differences(config, applied(config, untaken(config) as Config)));

/**
 * Keeps a configuration current with its file. If the file is invalid or gone, the problem is logged and the last good
 * configuration stays: defaults instead could open what it had closed. `load` reads the file and its overrides; `changed` is
 * called after a new configuration has taken effect.
 */
export const followConfig = (options: {
  readonly file: string;
  readonly start: Config;
  readonly load: () => Config;
  readonly log: Logger;
  readonly changed?: (config: Config) => void;
}): LiveConfig => {
  const { file, load, log, changed } = options;
  let running = options.start;
  const hearing = new Set<(keys: readonly string[]) => void>();
  let wasThere = existsSync(file);

  const reload = (): void => {
    let read: Config;
    try {
      read = load();
      const isThere = existsSync(file);
      if (wasThere && !isThere) throw new Error('the file is gone; put it back, or restart to continue without it');
      wasThere = isThere;
    } catch (error) {
      log.error({ file, problem: errorMessage(error) }, 'the changed configuration is invalid; the last good one stays in force');
      return;
    }
    const before = running;
    running = applied(before, read);
    const waiting = differences(running, read);
    if (waiting.length > 0) log.warn({ file, keys: waiting }, 'these configuration changes need a restart');
    const inForce = differences(before, running);
    if (inForce.length === 0) return;
    log.info({ file, keys: inForce }, 'the configuration has been reloaded');
    changed?.(running);
    for (const heard of hearing) heard(inForce);
  };

  const watcher = watchFile(file, reload, log);
  return {
    current: () => running,
    changes: (heard) => {
      hearing.add(heard);
      return () => hearing.delete(heard);
    },
    reload,
    close: () => watcher?.close(),
  };
};

/**
 * Calls `changed` when the file is written, created or replaced. Watches its directory, because the file may be replaced by
 * another.
 */
const watchFile = (file: string, changed: () => void, log: Logger): { close(): void } | null => {
  const unwatched = (error: unknown): void =>
    log.warn({ file, reason: errorMessage(error) }, 'the configuration file is not watched; a change needs a restart');
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher;
  try {
    // `..data` is the symbolic link that a mounted ConfigMap changes instead of the file.
    watcher = watch(dirname(file), { persistent: false }, (_, name) => {
      if (name !== null && name !== basename(file) && name !== '..data') return;
      clearTimeout(timer);
      timer = setTimeout(changed, settleMs);
      timer.unref();
    });
  } catch (error) {
    unwatched(error);
    return null;
  }
  watcher.on('error', unwatched);
  return {
    close: () => {
      clearTimeout(timer);
      watcher.close();
    },
  };
};
