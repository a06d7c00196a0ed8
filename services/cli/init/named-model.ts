import type { Config } from '../../../shared/domain/config/schema.ts';

/** A model with the address of its provider, as people may see it. */
export const namedModel = ({ agent, model }: Pick<Config, 'agent' | 'model'>): string => {
  const name = agent.model.split('/')[0] ?? '';
  const provider = Object.hasOwn(model.providers, name) ? model.providers[name] : undefined;
  if (provider === undefined) return agent.model;
  const address = provider.baseUrl ?? 'https://api.anthropic.com/v1';
  return `${agent.model} at ${address.replace(/\/\/[^/@]*@/, '//')}`;
};
