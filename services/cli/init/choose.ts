import { join, resolve } from 'node:path';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { World } from '../terminal.ts';
import type { KeySource } from './config-text.ts';
import { addressOf, type FoundProvider, findProviders, type Listing, modelsAt } from './find-providers.ts';
import { knownProviders } from './known-providers.ts';
import type { Questions } from './questions.ts';

export interface Wishes {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly keyFile?: string;
  readonly keyCommand?: readonly string[];
}
/** A provider, and where its key is, or will be if it was typed. `null`: no provider for now. */
export type Chosen = { readonly provider: FoundProvider; readonly key: KeySource; readonly typedKey?: string } | null;

const names = knownProviders.map(({ name }) => name).join(', ');

/** A provider by name, or by address. */
const named = ({ provider: name, baseUrl }: Wishes, found: readonly FoundProvider[]): FoundProvider => {
  const known = [...found, ...knownProviders].find((provider) => provider.name === name);
  if (known) return { ...known, ...(baseUrl !== undefined && { baseUrl }) };
  if (baseUrl === undefined)
    throw new NatterError(
      'invalid',
      `--provider: "${name}" is not known; use one of ${names}, or give its address with --base-url`,
    );
  return { name: name ?? 'own', title: name ?? baseUrl, kind: 'openai-compatible', baseUrl, variables: [], models: [] };
};

const keyWished = ({ keyEnv, keyFile, keyCommand }: Wishes): KeySource | null => {
  if (keyEnv !== undefined) return { apiKeyEnv: keyEnv };
  if (keyFile !== undefined) return { keyFile: resolve(keyFile) };
  return keyCommand === undefined ? null : { keyCommand };
};

const keyFound = ({ apiKeyEnv }: FoundProvider): KeySource => (apiKeyEnv === undefined ? {} : { apiKeyEnv });

/** Asks for a key. It will be in a file that only this user can read. */
export const askKey = ({ title }: FoundProvider, questions: Questions): Promise<string> =>
  questions.secret(`The key of ${title} (kept in a file that only you can read)?`);

const withTypedKey = async (provider: FoundProvider, dataDir: string, questions: Questions): Promise<NonNullable<Chosen>> => {
  return { provider, key: { keyFile: join(dataDir, 'keys', provider.name) }, typedKey: await askKey(provider, questions) };
};

const notFoundAdvice =
  'most addresses end in /v1; for a server that lists no models: natter init --base-url ADDRESS --model NAME';

/** The address of a server, until one answers. */
const ownServer = async (
  { terminal }: Pick<World, 'terminal'>,
  dataDir: string,
  questions: Questions,
): Promise<NonNullable<Chosen>> => {
  for (;;) {
    const baseUrl = addressOf(await questions.text('Its address?', 'http://127.0.0.1:8000/v1'));
    const provider = named({ baseUrl }, []);
    const listing = await modelsAt(provider, undefined);
    if ('models' in listing) return { provider: { ...provider, offered: listing.models }, key: {} };
    const { problem, status } = listing;
    if (isRefused(listing)) return withTypedKey(provider, dataDir, questions);
    terminal.note(status === 404 ? `${problem}; ${notFoundAdvice}` : problem);
    // A server need not list its models.
    if (status !== null && status !== 404) return { provider, key: {} };
  }
};

const describe = ({ apiKeyEnv, baseUrl }: FoundProvider): string => (apiKeyEnv === undefined ? baseUrl : `key in ${apiKeyEnv}`);

const asked = async (
  world: Pick<World, 'terminal'>,
  found: readonly FoundProvider[],
  dataDir: string,
  questions: Questions,
): Promise<Chosen> => {
  type Way = FoundProvider | 'typed' | 'address' | 'offline';
  const way = await questions.choose<Way>('Which model provider?', [
    ...found.map((provider) => ({ value: provider, label: provider.title, hint: describe(provider) })),
    {
      value: 'typed',
      label: found.length > 0 ? 'Another provider' : 'Anthropic, OpenAI or another provider',
      hint: 'you type its key',
    },
    { value: 'address', label: 'A server of your own', hint: 'with an OpenAI-compatible API' },
    { value: 'offline', label: 'None for now', hint: 'the offline model repeats what you say' },
  ]);
  if (way === 'offline') return null;
  if (way === 'address') return ownServer(world, dataDir, questions);
  if (way !== 'typed') return { provider: way, key: keyFound(way) };
  const others = knownProviders.filter(({ variables, name }) => variables.length > 0 && found.every((one) => one.name !== name));
  const provider = await questions.choose(
    'Which one?',
    others.map((value) => ({ value, label: value.title })),
  );
  return withTypedKey(provider, dataDir, questions);
};

/**
 * The provider that the options name, else the one that a person chooses, else the first that is found. Throws `NatterError('invalid')` where
 * there is none, with the ways to name one.
 */
export const chooseProvider = async (
  { env, terminal }: Pick<World, 'env' | 'terminal'>,
  wishes: Wishes,
  dataDir: string,
  questions: Questions | null,
): Promise<Chosen> => {
  if (wishes.provider === 'offline') return null;
  const found = await findProviders(env);
  const key = keyWished(wishes);
  if (wishes.provider !== undefined || wishes.baseUrl !== undefined) {
    const provider = named(wishes, found);
    return { provider, key: key ?? keyFound(provider) };
  }
  if (questions !== null && key === null) return asked({ terminal }, found, dataDir, questions);
  const [first, ...others] = found;
  if (first === undefined) {
    const variables = knownProviders.flatMap(({ variables: [variable] }) => variable ?? []).join(', ');
    const fix = `set one of ${variables}; start Ollama or LM Studio; or name one with --provider and --key-file`;
    throw new NatterError('invalid', `no model provider was found; ${fix}`);
  }
  if (others.length > 0) terminal.note(`also found: ${others.map(({ name }) => name).join(', ')} (choose with --provider)`);
  return { provider: first, key: key ?? keyFound(first) };
};

/** The first usual model that is offered, then the others that are. */
const proposed = ({ models: usual }: FoundProvider, listing: Listing): readonly string[] => {
  const offered = 'models' in listing ? listing.models : [];
  const best = usual.find((model) => offered.includes(model)) ?? (offered.length === 0 ? usual[0] : undefined);
  return [...(best === undefined ? [] : [best]), ...offered.filter((model) => model !== best)];
};

const isRefused = (listing: Listing): boolean => 'status' in listing && (listing.status === 401 || listing.status === 403);

/** Why no model is offered, and what to check. */
export const whyNone = ({ title }: FoundProvider, listing: Listing): string => {
  if (!('problem' in listing)) return `${title} lists no models; check the address`;
  const { problem } = listing;
  return isRefused(listing) ? `${title} refused the key (${problem}); check the key` : `${problem}; check the address`;
};

const askModel = ({ title }: FoundProvider, models: readonly string[], questions: Questions): Promise<string> => {
  if (models.length === 0) return questions.text(`The name of a model of ${title}?`, 'name');
  return questions.choose(
    'Which model?',
    models.map((value) => ({ value, label: value })),
  );
};

/**
 * The first usual model that is offered, else one that a person chooses, else the first offered. Throws `NatterError('invalid')` where none is
 * named and nobody can be asked.
 */
export const chooseModel = async (provider: FoundProvider, listing: Listing, questions: Questions | null): Promise<string> => {
  const models = proposed(provider, listing);
  if (questions !== null && models.length !== 1) return askModel(provider, models, questions);
  if (models[0] !== undefined) return models[0];
  throw new NatterError('invalid', `${whyNone(provider, listing)}, or name a model with --model`);
};

/** One besides `failed`, which did not answer. */
export const anotherModel = (provider: FoundProvider, listing: Listing, failed: string, questions: Questions): Promise<string> =>
  askModel(
    provider,
    proposed(provider, listing).filter((model) => model !== failed),
    questions,
  );
