import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import JSON5 from 'json5';
import type { z } from 'zod';
import { keyVariable } from '../../domain/config/provider-key.ts';
import { type Config as ConfigFields, configSchema } from '../../domain/config/schema.ts';
import { adviceOn, childOf, type SchemaNode, schemaTree } from '../../domain/config/schema-text.ts';
import { refuseDangers } from '../../domain/routing/dm-safety.ts';
import { errorMessage, NatterError } from '../../kit/errors.ts';
import { parsed } from '../../kit/text/issue-text.ts';
import { linesOf } from './locate.ts';

/**
 * The configuration of one process: file, overridden by the environment, with defaults. `dataDir` and `session.store` are
 * absolute; `session.timeZone` is always set.
 */
export type Config = ConfigFields & {
  readonly dataDir: string;
  readonly session: ConfigFields['session'] & { readonly timeZone: string };
};

/** Where a configuration comes from. `file` must exist if given; `home` is the user's home folder. */
export interface ConfigSource {
  readonly file?: string;
  readonly env: Environment;
  readonly home: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A path in a variable is relative to the working directory; one in the file, to the file's folder. */
const resolvedPath = (path: string): string => resolve(path);

/** Variables that set a field, with the conversion of their text. They take precedence over the file. */
const variables: readonly (readonly [variable: string, field: string, read: (text: string) => unknown])[] = [
  ['NATS_URL', 'nats.url', String],
  ['NATS_TOKEN', 'nats.token', String],
  ['NATS_CA', 'nats.tls.caFile', resolvedPath],
  ['NATS_CERT', 'nats.tls.certFile', resolvedPath],
  ['NATS_KEY', 'nats.tls.keyFile', resolvedPath],
  ['NATS_CREDS', 'nats.credsFile', resolvedPath],
  ['NATS_NKEY', 'nats.nkeySeedFile', resolvedPath],
  ['NATS_USERS_DIR', 'nats.usersDir', resolvedPath],
  ['NATTER_PREFIX', 'prefix', String],
  ['NATTER_DATA_DIR', 'dataDir', String],
  ['NATTER_HOST', 'gateway.host', String],
  ['NATTER_PORT', 'gateway.port', Number],
  ['NATTER_TOKEN', 'gateway.token', String],
  ['NATTER_MODEL', 'agent.model', String],
  ['NATTER_LOG_LEVEL', 'log.level', String],
];

/** The keys that variables set, each with the name of its variable. */
export const variablesIn = (env: Environment): (readonly [field: string, variable: string])[] =>
  variables.filter(([variable]) => (env[variable] ?? '') !== '').map(([variable, field]) => [field, variable]);

interface Problem {
  readonly field: string;
  readonly text: string;
}

const problemsOf = (error: z.ZodError): Problem[] =>
  error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ field: path.join('.'), text: issue.message }];
    return issue.keys.map((key) => ({ field: [...path, key].join('.'), text: adviceOn(path, key) }));
  });

/** Reads and parses the file; `null` if it does not exist and was not named explicitly. */
const readFile = (file: string, required: boolean): { text: string; value: unknown } | null => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (!required && (cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new NatterError('invalid', `${file}: cannot be read: ${errorMessage(cause)}; name an existing file with --config`, {
      cause,
    });
  }
  try {
    return { text, value: JSON5.parse(text) };
  } catch (cause) {
    const { lineNumber, columnNumber } = cause as { lineNumber?: number; columnNumber?: number };
    const place = lineNumber === undefined ? '' : `:${lineNumber}:${columnNumber ?? 1}`;
    const message = errorMessage(cause)
      .replace(/^JSON5: /, '')
      .replace(/ at \d+:\d+$/, '');
    throw new NatterError('invalid', `${file}${place}: not JSON5: ${message}; look for a missing comma, quote or bracket there`, {
      cause,
    });
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy of `value` with the field at `path` set. A part of the path that is not an object is left for the schema to refuse. */
const withField = (value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown => {
  if (name === undefined) return to;
  if (value !== undefined && !isRecord(value)) return value;
  return { ...value, [name]: withField(value?.[name], rest, to) };
};

const absolute = (path: string, base: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(base, path);

/** The machine's time zone: the default for daily resets (A4/44). */
const hostTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * The path of the configuration file: the one given or named by `NATTER_CONFIG`, else `natter.json` in the data directory, which
 * need not exist.
 */
export const configFileOf = ({ file, env, home }: ConfigSource): { path: string; named: boolean } => {
  const named = file ?? (env.NATTER_CONFIG || undefined);
  const usual = join(absolute(env.NATTER_DATA_DIR || join(home, '.natter'), '.', home), 'natter.json');
  return { path: named === undefined ? usual : absolute(named, '.', home), named: named !== undefined };
};

/** Loads the configuration. Throws `invalid` with one line per problem: file and line or variable, field, and the fix. */
export const loadConfig = (source: ConfigSource): Config => {
  const { env, home } = source;
  const { path: file, named } = configFileOf(source);
  const read = readFile(file, named);

  const overrides = variables.filter(([variable]) => (env[variable] ?? '') !== '');
  const merged = overrides.reduce<unknown>(
    (value, [variable, field, convert]) => withField(value, field.split('.'), convert(env[variable] ?? '')),
    read?.value ?? {},
  );
  const result = parsed(configSchema, merged);
  if (!result.success) {
    const lines = read === null ? new Map<string, number>() : linesOf(read.text);
    const problems = problemsOf(result.error);
    const place = ({ field }: Problem): string => {
      const variable = overrides.find(([, path]) => path === field)?.[0];
      return variable ?? (lines.has(field) ? `${file}:${lines.get(field)}` : file);
    };
    const message = problems.map((problem) =>
      [place(problem), problem.field, problem.text].filter((part) => part !== '').join(': '),
    );
    throw new NatterError('invalid', message.join('\n'), { field: problems[0]?.field ?? '' });
  }

  const base = env.NATTER_DATA_DIR ? '.' : dirname(file);
  const { agent, dataDir, model, nats, session, skills } = result.data;
  const fromFile = (path: string): string => absolute(path, dirname(file), home);
  const config = {
    ...result.data,
    nats: withAbsoluteFiles(nats, fromFile),
    agent: { ...agent, ...(agent.workspace !== undefined && { workspace: fromFile(agent.workspace) }) },
    model: withAbsoluteKeyFiles(model, fromFile),
    skills: withAbsolutePaths(skills, fromFile),
    dataDir: absolute(dataDir ?? join(home, '.natter'), base, home),
    session: {
      ...session,
      timeZone: session.timeZone ?? hostTimeZone(),
      ...(session.store !== undefined && { store: fromFile(session.store) }),
      maintenance: {
        ...session.maintenance,
        ...(session.maintenance.archiveDir !== undefined && { archiveDir: fromFile(session.maintenance.archiveDir) }),
      },
    },
  };
  refuseDangers(config);
  return config;
};

const withAbsoluteKeyFiles = (model: Config['model'], absolutely: (path: string) => string): Config['model'] => {
  const providers = Object.entries(model.providers).map(([name, provider]) => {
    const { keyFile } = provider;
    return [name, keyFile === undefined ? provider : { ...provider, keyFile: absolutely(keyFile) }] as const;
  });
  return { ...model, providers: Object.fromEntries(providers) };
};

const withAbsoluteFiles = ({ tls, ...nats }: Config['nats'], absolutely: (path: string) => string): Config['nats'] => {
  const { credsFile, nkeySeedFile, usersDir } = nats;
  return {
    ...nats,
    ...(tls && { tls: Object.fromEntries(Object.entries(tls).map(([name, path]) => [name, absolutely(path)])) }),
    ...(credsFile !== undefined && { credsFile: absolutely(credsFile) }),
    ...(nkeySeedFile !== undefined && { nkeySeedFile: absolutely(nkeySeedFile) }),
    ...(usersDir !== undefined && { usersDir: absolutely(usersDir) }),
  };
};

const withAbsolutePaths = (skills: Config['skills'], absolutely: (path: string) => string): Config['skills'] => ({
  ...skills,
  ...(skills.managedDir !== undefined && { managedDir: absolutely(skills.managedDir) }),
  load: { ...skills.load, extraDirs: skills.load.extraDirs.map(absolutely) },
  plugins: Object.fromEntries(
    Object.entries(skills.plugins).map(([name, plugin]) => [name, { ...plugin, path: absolutely(plugin.path) }]),
  ),
});

const secretsUnder = (node: SchemaNode | undefined, value: unknown): string[] => {
  if (node?.secret === true) return typeof value === 'string' ? [value] : [];
  return isRecord(value) ? Object.entries(value).flatMap(([name, child]) => secretsUnder(childOf(node, name), child)) : [];
};

/** The secrets that this configuration contains, and the keys that it names. */
export const keysOf = (config: Config, env: Environment): string[] => {
  const variables = [
    ...Object.entries(config.model.providers).flatMap(([name, provider]) => keyVariable(name, provider) ?? []),
    ...Object.values(config.mcp.servers).flatMap(({ headersEnv }) => Object.values(headersEnv)),
    ...Object.values(config.skills.entries).flatMap(({ apiKey }) => (typeof apiKey === 'object' ? [apiKey.env] : [])),
  ];
  return [...secretsUnder(schemaTree(), config), ...variables.flatMap((name) => env[name] ?? [])];
};

/**
 * Every secret that this configuration contains or refers to, for the log to hide (I12). Variables passed to programs count as
 * secrets.
 */
export const secretsOf = (config: Config, env: Environment): string[] => {
  const variables = [
    ...Object.values(config.mcp.servers).flatMap(({ environment }) => environment),
    ...config.tools.exec.environment,
  ];
  return [...keysOf(config, env), ...variables.flatMap((name) => env[name] ?? [])];
};
