import { useEffect, useState } from 'preact/hooks';
import type { ConfigInForce } from '../../../shared/client/main.ts';
import { client } from '../base/signed-in.ts';
import { type ModelName, modelNamesIn, modelWord } from './completions.ts';

/** The models, while one is being written; empty for who may not read the configuration. */
export const useModelNames = (text: string): readonly ModelName[] => {
  const [names, setNames] = useState<readonly ModelName[]>([]);
  const isWanted = text.startsWith(modelWord);
  useEffect(() => {
    if (!isWanted) return undefined;
    const controller = new AbortController();
    client.get<ConfigInForce>('/v1/config', { signal: controller.signal }).then(
      (config) => setNames(modelNamesIn(config)),
      () => {},
    );
    return () => controller.abort();
  }, [isWanted]);
  return names;
};
