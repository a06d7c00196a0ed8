import { resolve } from 'node:path';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { World } from '../terminal.ts';
import { askProvider, type Chosen, keyFound, providerAt, withTypedKey } from './ask-provider.ts';
import type { KeySource } from './config-text.ts';
import {
  addressOf,
  type FoundProvider,
  findProviders,
  isRefused,
  type Listing,
  noAddress,
  providersIn,
} from './find-providers.ts';
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
const names = knownProviders.map(({ name }) => name).join(', ');

/** A provider by name, or by address. */
const named = ({ provider: name, baseUrl: typed }: Wishes, found: readonly FoundProvider[], env: World['env']): FoundProvider => {
  const baseUrl = typed === undefined ? undefined : addressOf(typed);
  if (baseUrl === null) throw new NatterError('invalid', `--base-url: ${noAddress(typed ?? '')}`);
  const known = [...found, ...providersIn(env)].find((provider) => provider.name === name);
  if (known) return { ...known, ...(baseUrl !== undefined && { baseUrl }) };
  if (baseUrl !== undefined) return providerAt(baseUrl, name);
  const advice = `use one of ${names}, or give its address with --base-url`;
  throw new NatterError('invalid', `--provider: "${name}" is not known; ${advice}`);
};

const keyWished = ({ keyEnv, keyFile, keyCommand }: Wishes): KeySource | null => {
  if (keyEnv !== undefined) return { apiKeyEnv: keyEnv };
  if (keyFile !== undefined) return { keyFile: resolve(keyFile) };
  return keyCommand === undefined ? null : { keyCommand };
};

const keyOptions = '--key-env, --key-file or --key-command';

/** The provider that the options name. Without a key of it, a person is asked for one. */
const wished = async (
  { env, terminal }: Pick<World, 'env' | 'terminal'>,
  wishes: Wishes,
  found: readonly FoundProvider[],
  dataDir: string,
  questions: Questions | null,
): Promise<Chosen> => {
  const provider = named(wishes, found, env);
  const key = keyWished(wishes) ?? keyFound(provider);
  const isKeyNeeded = wishes.baseUrl === undefined && provider.variables.length > 0;
  if (!isKeyNeeded || Object.keys(key).length > 0) return { provider, key };
  const problem = `${provider.variables.join(' or ')} is not set`;
  if (questions === null) throw new NatterError('invalid', `${problem}; set it, or say where the key is with ${keyOptions}`);
  terminal.note(problem);
  return withTypedKey(provider, { questions, dataDir });
};

/**
 * The provider that the options name, else the one that a person chooses (`null`: none for now), else the first that is found. Throws
 * `NatterError('invalid')` where there is none, with the ways to name one, and where its key is nowhere.
 */
export const chooseProvider = async (
  world: Pick<World, 'env' | 'terminal'>,
  wishes: Wishes,
  dataDir: string,
  questions: Questions | null,
): Promise<Chosen | null> => {
  if (wishes.provider === 'offline') return null;
  const found = await findProviders(world.env);
  if (wishes.provider !== undefined || wishes.baseUrl !== undefined) return wished(world, wishes, found, dataDir, questions);
  const key = keyWished(wishes);
  if (questions !== null && key === null) return askProvider(world, found, { questions, dataDir });
  const [first, ...others] = found;
  if (first === undefined) {
    const variables = knownProviders.flatMap(({ variables: [variable] }) => variable ?? []).join(', ');
    const fix = `set one of ${variables}; start Ollama or LM Studio; name one with --provider and --key-file; or do without: --provider offline`;
    throw new NatterError('invalid', `no model provider was found; ${fix}`);
  }
  if (others.length > 0) world.terminal.note(`also found: ${others.map(({ name }) => name).join(', ')} (choose with --provider)`);
  return { provider: first, key: key ?? keyFound(first) };
};

/** The first usual model that is offered, then the others that are. */
const proposed = ({ models: usual }: FoundProvider, listing: Listing): readonly string[] => {
  const offered = 'models' in listing ? listing.models : [];
  const best = usual.find((model) => offered.includes(model)) ?? (offered.length === 0 ? usual[0] : undefined);
  return [...(best === undefined ? [] : [best]), ...offered.filter((model) => model !== best)];
};

/** Why no model is offered, and what to check. `isKeySent`: the provider was asked with a key. */
export const whyNone = ({ title }: FoundProvider, listing: Listing, isKeySent: boolean): string => {
  if (!('problem' in listing)) return `${title} lists no models; check the address`;
  const { problem } = listing;
  if (!isRefused(listing)) return `${problem}; check the address`;
  if (isKeySent) return `${title} refused the key (${problem}); check the key`;
  return `${title} ${noKeySent.reason} (${problem}); ${noKeySent.advice}`;
};

/** Why a provider refuses, where the key is what it lacks. */
export const noKeySent = { reason: 'wants a key, and no key was sent', advice: `give its key with ${keyOptions}` };

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
export const chooseModel = async (
  provider: FoundProvider,
  listing: Listing,
  isKeySent: boolean,
  questions: Questions | null,
): Promise<string> => {
  const models = proposed(provider, listing);
  if (questions !== null && models.length !== 1) return askModel(provider, models, questions);
  if (models[0] !== undefined) return models[0];
  throw new NatterError('invalid', `${whyNone(provider, listing, isKeySent)}, or name a model with --model`);
};

/** One besides `failed`, which did not answer. */
export const anotherModel = (provider: FoundProvider, listing: Listing, failed: string, questions: Questions): Promise<string> =>
  askModel(
    provider,
    proposed(provider, listing).filter((model) => model !== failed),
    questions,
  );
