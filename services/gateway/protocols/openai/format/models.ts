import type { Config } from '../../../../../shared/domain/config/schema.ts';
import { Failure } from './failure.ts';

/** `model` names the agent: `natter/<agentId>`. `natter` and the agent's id alone mean the same. */

export const modelNameOf = (agentId: string): string => `natter/${agentId}`;

/** The agent that a model's name stands for. Throws `Failure` with 404. */
export const agentNamed = ({ agent: { id } }: Config, model: string): string => {
  if (model === 'natter' || model === id || model === modelNameOf(id)) return id;
  const message = `the model ${JSON.stringify(model)} does not exist here; use "${modelNameOf(id)}"`;
  throw new Failure(404, 'model_not_found', message, 'model');
};

export const modelObject = (agentId: string) => ({
  id: modelNameOf(agentId),
  object: 'model',
  /** The creation time of an agent is not recorded. */
  created: 0,
  owned_by: 'natter',
});
