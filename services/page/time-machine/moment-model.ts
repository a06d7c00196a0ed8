import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { modelWords } from '../parts/model-words.ts';

/** The model in effect after `place` commits: what was set for the session, else the agent's, as far as its steps tell which. */
export const modelAt = (commits: readonly RecordedCommit[], place: number, chosen: string | undefined): string => {
  if (chosen !== undefined) return `model: ${modelWords(chosen)}, set for this session`;
  for (let at = place - 1; at >= 0; at--)
    for (const event of commits[at]?.events ?? []) {
      if (event.type === 'model_step' && !event.flush) return `model: ${modelWords(event.model)}`;
      // What was set until then is behind the steps before it.
      if (event.type === 'settings_changed' && event.changes.model === null) return ownModel;
    }
  return ownModel;
};
const ownModel = 'model: the agent’s own';
