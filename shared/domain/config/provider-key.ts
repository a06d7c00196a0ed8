import type { z } from 'zod';
import type { modelConfig } from './turn-schema.ts';

type Provider = z.infer<typeof modelConfig>['providers'][string];

/**
 * The name under which the environment of a process has the key of a provider; `undefined` if the provider needs none. What a file or a
 * command gives has a name that no variable can have, and is put there by `withProviderKeys`.
 */
export const keyVariable = (name: string, { apiKeyEnv, keyFile, keyCommand }: Provider): string | undefined =>
  apiKeyEnv ?? (keyFile === undefined && keyCommand === undefined ? undefined : `key of ${name}`);
