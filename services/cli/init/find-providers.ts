import { unreachable } from '../../../shared/client/errors.ts';
import type { World } from '../terminal.ts';
import { type KnownProvider, knownProviders } from './known-providers.ts';

/** A provider that could be used here: its key is in the environment, or it answers on this machine. */
export interface FoundProvider extends KnownProvider {
  /** The variable with the key. */
  readonly apiKeyEnv?: string;
  /** The models that it offers, where it was asked: one on this machine. */
  readonly offered?: readonly string[];
}

const localMs = 1_500;
const listMs = 15_000;
const listed = 500;

const keyHeaders = (kind: KnownProvider['kind'], key: string | undefined): Record<string, string> => {
  if (key === undefined) return {};
  return kind === 'anthropic' ? { 'x-api-key': key, 'anthropic-version': '2023-06-01' } : { authorization: `Bearer ${key}` };
};

/** The models that an address lists, or why it lists none, with the status of its answer (`null`: no answer). */
export type Listing = { readonly models: readonly string[] } | { readonly problem: string; readonly status: number | null };

/** Asks an address for its models. Throws nothing. */
export const modelsAt = async (
  { kind, baseUrl }: Pick<KnownProvider, 'kind' | 'baseUrl'>,
  key: string | undefined,
  timeoutMs = listMs,
): Promise<Listing> => {
  const url = `${baseUrl.replace(/\/$/, '')}/models`;
  try {
    const response = await fetch(url, {
      headers: keyHeaders(kind, key),
      // The key goes to this address alone.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { ok, status } = response;
    if (!ok) return { problem: `${url} answered ${status}`, status };
    const { data } = (await response.json().catch(() => ({}))) as { data?: { id?: unknown }[] };
    if (!Array.isArray(data)) return { problem: `${url} answered without a list of models`, status };
    // Gemini puts "models/" before each name, and takes them without it.
    const names = data.flatMap(({ id }) => (typeof id === 'string' && id !== '' ? [id.replace(/^models\//, '')] : []));
    return { models: names.slice(0, listed) };
  } catch (error) {
    return { problem: unreachable(url, error).message, status: null };
  }
};

/** An address as people type it: without a scheme it is encrypted, unless it is this machine. */
export const addressOf = (typed: string): string => {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) return typed;
  return `${/^(localhost|127\.|\[::1\])/i.test(typed) ? 'http' : 'https'}://${typed}`;
};

/** `OLLAMA_HOST` is what Ollama itself reads: an address, with or without scheme and port. */
const localUrl = ({ name, baseUrl }: KnownProvider, { OLLAMA_HOST: host = '' }: World['env']): string => {
  if (name !== 'ollama' || host === '') return baseUrl;
  const url = `${/^https?:\/\//.test(host) ? host : `http://${host}`}`.replace('//0.0.0.0', '//127.0.0.1');
  if (!URL.canParse(url)) return baseUrl;
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname}:${port || '11434'}/v1`;
};

/** The providers whose keys are in the environment, then those that answer on this machine, each in the order of the table. */
export const findProviders = async (env: World['env'], known = knownProviders): Promise<readonly FoundProvider[]> => {
  const found = known.map(async (provider): Promise<FoundProvider | null> => {
    const apiKeyEnv = provider.variables.find((variable) => (env[variable] ?? '').trim() !== '');
    if (apiKeyEnv !== undefined) return { ...provider, apiKeyEnv };
    if (provider.variables.length > 0) return null;
    const baseUrl = localUrl(provider, env);
    const listing = await modelsAt({ ...provider, baseUrl }, undefined, localMs);
    return 'models' in listing && listing.models.length > 0 ? { ...provider, baseUrl, offered: listing.models } : null;
  });
  return (await Promise.all(found)).filter((provider) => provider !== null);
};
