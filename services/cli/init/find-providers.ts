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

/** Whether the address wants a key, or another one. */
export const isRefused = (listing: Listing): boolean => 'status' in listing && (listing.status === 401 || listing.status === 403);

export const exampleAddress = 'http://127.0.0.1:8000/v1';

/** An address as people type it: without a scheme it is encrypted, unless it is this machine. `null`: it is none. */
export const addressOf = (typed: string): string | null => {
  const scheme = /^(localhost|127\.|\[::1\])/i.test(typed) ? 'http' : 'https';
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `${scheme}://${typed}`;
  return URL.canParse(address) && /^https?:\/\/[^\s]+$/i.test(address) ? address : null;
};
export const noAddress = (typed: string): string => `"${typed}" is not an address; give one such as ${exampleAddress}`;

/** `OLLAMA_HOST` is what Ollama itself reads: an address, with or without scheme and port. */
const ollamaUrl = (usual: string, host: string): string => {
  const url = `${/^https?:\/\//.test(host) ? host : `http://${host}`}`.replace('//0.0.0.0', '//127.0.0.1');
  if (!URL.canParse(url)) return usual;
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname}:${port || '11434'}/v1`;
};

/** The address of a provider, where the environment names another: a key that is meant for that one goes nowhere else. */
const addressIn = ({ name, baseUrl }: KnownProvider, { OLLAMA_HOST = '', OPENAI_BASE_URL = '' }: World['env']): string => {
  if (name === 'ollama' && OLLAMA_HOST !== '') return ollamaUrl(baseUrl, OLLAMA_HOST);
  return name === 'openai' ? (addressOf(OPENAI_BASE_URL) ?? baseUrl) : baseUrl;
};

/** The known providers, at the addresses that the environment names for them. */
export const providersIn = (env: World['env'], known = knownProviders): readonly KnownProvider[] =>
  known.map((provider) => ({ ...provider, baseUrl: addressIn(provider, env) }));

/** Whether a provider is where it usually is. */
export const isAtUsualAddress = ({ name, baseUrl }: KnownProvider): boolean =>
  knownProviders.some((known) => known.name === name && known.baseUrl === baseUrl);

/** The providers whose keys are in the environment, then those that answer on this machine, each in the order of the table. */
export const findProviders = async (env: World['env'], known = knownProviders): Promise<readonly FoundProvider[]> => {
  const found = providersIn(env, known).map(async (provider): Promise<FoundProvider | null> => {
    const apiKeyEnv = provider.variables.find((variable) => (env[variable] ?? '').trim() !== '');
    if (apiKeyEnv !== undefined) return { ...provider, apiKeyEnv };
    if (provider.variables.length > 0) return null;
    const listing = await modelsAt(provider, undefined, localMs);
    return 'models' in listing && listing.models.length > 0 ? { ...provider, offered: listing.models } : null;
  });
  return (await Promise.all(found)).filter((provider) => provider !== null);
};
