import { join } from 'node:path';
import type { World } from '../terminal.ts';
import type { KeySource } from './config-text.ts';
import {
  addressOf,
  exampleAddress,
  type FoundProvider,
  isAtUsualAddress,
  isRefused,
  modelsAt,
  noAddress,
  providersIn,
} from './find-providers.ts';
import type { Choice, Questions } from './questions.ts';

/** A provider, and where its key is, or will be if it was typed. */
export interface Chosen {
  readonly provider: FoundProvider;
  readonly key: KeySource;
  readonly typedKey?: string;
}
interface Person {
  readonly questions: Questions;
  /** The folder that a typed key will be kept in. */
  readonly dataDir: string;
}

/** A provider that only its address is known of. */
export const providerAt = (baseUrl: string, name?: string): FoundProvider => ({
  ...{ name: name ?? 'own', title: name ?? baseUrl, kind: 'openai-compatible', baseUrl, variables: [], models: [] },
});

export const keyFound = ({ apiKeyEnv }: FoundProvider): KeySource => (apiKeyEnv === undefined ? {} : { apiKeyEnv });

/** Asks for a key. It will be in a file that only this user can read. Without `isOptional` there is one. */
export const withTypedKey = async (
  provider: FoundProvider,
  { questions, dataDir }: Person,
  isOptional = false,
): Promise<Chosen> => {
  const note = `kept in a file that only you can read${isOptional ? '; empty if it needs none' : ''}`;
  const typedKey = await questions.secret(`The key of ${provider.title} (${note})?`, isOptional);
  return typedKey === '' ? { provider, key: {} } : { provider, key: { keyFile: join(dataDir, 'keys', provider.name) }, typedKey };
};

const notFoundAdvice =
  'most addresses end in /v1; for a server that lists no models: natter init --base-url ADDRESS --model NAME';

/** The address of a server, until one answers, and its key. */
const askAddress = async ({ terminal }: Pick<World, 'terminal'>, person: Person): Promise<Chosen> => {
  let typed = '';
  for (;;) {
    typed = await person.questions.text('Its address?', exampleAddress, typed);
    const baseUrl = addressOf(typed);
    if (baseUrl === null) {
      terminal.note(noAddress(typed));
      continue;
    }
    const provider = providerAt(baseUrl);
    const listing = await modelsAt(provider, undefined);
    if (isRefused(listing)) return withTypedKey(provider, person);
    if ('problem' in listing) terminal.note(listing.status === 404 ? `${listing.problem}; ${notFoundAdvice}` : listing.problem);
    // A server need not list its models.
    if ('problem' in listing && (listing.status === null || listing.status === 404)) continue;
    const chosen = await withTypedKey(provider, person, true);
    if ('problem' in listing || chosen.typedKey !== undefined) return chosen;
    return { ...chosen, provider: { ...provider, offered: listing.models } };
  }
};

const describe = (provider: FoundProvider): string => {
  const { apiKeyEnv, baseUrl } = provider;
  if (apiKeyEnv === undefined) return baseUrl;
  return `key in ${apiKeyEnv}${isAtUsualAddress(provider) ? '' : `, at ${baseUrl}`}`;
};

const address: Choice<'address'> = {
  ...{ value: 'address', label: 'Another OpenAI-compatible address', hint: 'you type the address, and a key if it needs one' },
};

/** The provider that a person chooses; `null`: none for now. */
export const askProvider = async (
  world: Pick<World, 'env' | 'terminal'>,
  found: readonly FoundProvider[],
  person: Person,
): Promise<Chosen | null> => {
  type Way = FoundProvider | 'typed' | 'address' | 'offline';
  const { questions } = person;
  const others = providersIn(world.env).filter(
    ({ variables, name }) => variables.length > 0 && found.every((one) => one.name !== name),
  );
  for (;;) {
    const way = await questions.choose<Way>('Which model provider?', [
      ...found.map((provider) => ({ value: provider, label: provider.title, hint: describe(provider) })),
      {
        value: 'typed',
        label: found.length > 0 ? 'Another provider' : 'Anthropic, OpenAI or another provider',
        hint: 'you type its key',
      },
      address,
      { value: 'offline', label: 'None for now', hint: 'the offline model repeats what you say' },
    ]);
    if (way === 'offline') return null;
    if (way === 'address') return askAddress(world, person);
    if (way !== 'typed') return { provider: way, key: keyFound(way) };
    const other = await questions.choose<FoundProvider | 'address' | 'back'>('Which one?', [
      ...others.map((value) => ({ value, label: value.title })),
      address,
      { value: 'back', label: 'Back' },
    ]);
    if (other === 'address') return askAddress(world, person);
    if (other !== 'back') return withTypedKey(other, person);
  }
};
