import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { keyVariable } from '../../domain/config/provider-key.ts';
import { errorMessage, NatterError } from '../../kit/errors.ts';
import type { Config } from './load.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A password manager may ask its owner first. */
const commandMs = 60_000;
const keyBytes = 64 * 1024;

/**
 * The environment with the providers' keys that files and commands hold, for `createModels`. Read once, when a process starts that asks
 * models. Throws `invalid` with the field: a file that cannot be read or that others can read, a command that fails, an empty key. No
 * message has any of what they hold (I12).
 */
export const withProviderKeys = ({ model }: Pick<Config, 'model'>, env: Environment): Environment => {
  const keys = Object.entries(model.providers).flatMap(([name, provider]) => {
    const { keyFile, keyCommand } = provider;
    const variable = keyVariable(name, provider);
    const field = `model.providers.${name}.${keyFile === undefined ? 'keyCommand' : 'keyFile'}`;
    if (variable === undefined || provider.apiKeyEnv !== undefined) return [];
    const key = (keyFile === undefined ? printedBy(keyCommand ?? [], field, env) : textOf(keyFile, field)).trim();
    if (key === '')
      throw new NatterError('invalid', `${field} gives an empty key; it must give the key and nothing else`, { field });
    return [[variable, key] as const];
  });
  return { ...env, ...Object.fromEntries(keys) };
};

const textOf = (file: string, field: string): string => {
  try {
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
      throw new NatterError('invalid', `${field}: other users can read ${file}; run: chmod 600 ${file}`, { field });
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof NatterError) throw cause;
    throw new NatterError('invalid', `${field}: cannot read ${file}: ${errorMessage(cause)}`, { field, cause });
  }
};

const printedBy = ([program = '', ...args]: readonly string[], field: string, env: Environment): string => {
  try {
    return execFileSync(program, args, {
      env,
      encoding: 'utf8',
      timeout: commandMs,
      maxBuffer: keyBytes,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (cause) {
    const { status, code, signal } = cause as { status?: number | null; code?: string; signal?: string };
    // Its own output stays out of the message: it may be the key.
    const why = typeof status === 'number' ? `exit code ${status}` : (code ?? signal ?? 'it failed');
    throw new NatterError('invalid', `${field}: ${program} gave no key (${why}); run it by hand and see`, { field });
  }
};
