import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { toPlain } from '../../../shared/domain/session/evolve.ts';
import { damaged } from '../../../shared/domain/session/history-fold.ts';
import type { NatterError } from '../../../shared/kit/errors.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { surveyDamage } from '../../../shared/runtime/damage-survey.ts';

/**
 * Reads a session's whole log: why it is damaged, or `null` if it is whole. From then on no host goes on from a snapshot of a damaged one, here
 * or elsewhere, until a person has decided (F13). Throws as `surveyDamage`.
 */
export const checkHistory = async (
  ports: Pick<Ports, 'events' | 'snapshots' | 'clock'>,
  key: SessionKey,
): Promise<NatterError | null> => {
  const { gaps, known } = await surveyDamage(ports, key);
  const [gap] = gaps;
  if (gap === undefined) return null;
  if (known.position.rev > 0) await ports.snapshots.put(key, { ...toPlain(known), damaged: true });
  return damaged(key, gap);
};
