import { uuidv7 } from 'uuidv7';
import { decide } from '../../../shared/domain/session/decide/index.ts';
import type { CommandEnvelope, Commit } from '../../../shared/domain/session/envelope.ts';
import { evolve } from '../../../shared/domain/session/fold/evolve.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Eraser } from '../../../shared/ports/eraser.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { type SurveyPorts, surveyDamage } from '../../../shared/runtime/damage-survey.ts';
import type { ListedErasure } from './erasure-list.ts';

type ErasurePorts = SurveyPorts & Pick<Ports, 'audit' | 'attachments'>;

/**
 * Erases again what was erased after the backup. Only for a system that is not running: it writes to the log itself. Resolves with the number
 * of sessions; those that the log does not have are gone already. Throws `NatterError('unavailable')`; then call it again.
 */
export const repeatErasures = async (
  ports: ErasurePorts,
  eraser: Eraser,
  { erasures, actor }: { erasures: readonly ListedErasure[]; actor: string },
): Promise<number> => {
  let sessions = 0;
  for (const { key } of erasures) {
    const last = await ports.events.last(key);
    if (last === null) {
      // Its first message may have been on its way, with a file.
      for (const stored of await ports.attachments.of(key)) await ports.attachments.remove(stored);
      continue;
    }
    await ports.audit.append({ v: 1, at: ports.clock.now(), kind: 'session_erased', actor, target: key, outcome: 'ok' });
    await eraser.erase(key, await recordErasure(ports, key, actor));
    sessions += 1;
  }
  return sessions;
};

/** Records the erasure as a session host would, also behind damage. Resolves with the sequence of the commit. */
const recordErasure = async (ports: ErasurePorts, key: ListedErasure['key'], actor: string): Promise<number> => {
  const { events, clock } = ports;
  const { known: state } = await surveyDamage(ports, key);
  const id = uuidv7();
  const at = clock.now();
  const data = { type: 'delete_session', mode: 'erased', reason: 'repeated after a restore' } as const;
  const command: CommandEnvelope = { id, key, at, correlationId: id, causationId: id, actor, data };
  const decision = decide(command, state);
  if ('refuse' in decision) throw new NatterError('unavailable', `${key} cannot be erased again: ${decision.message}`);
  const { position } = state;
  const { context } = decision.accept.reduce(evolve, state.machine);
  const commit: Commit = {
    ...{ v: 2, id: uuidv7(), key, rev: position.rev + 1, prev: position.digest },
    ...{ sessionId: context.sessionId, epoch: context.epoch, at, actor, correlationId: id, causationId: id },
    command: { id, seq: null, incarnation: null },
    events: decision.accept,
  };
  const result = await events.append(commit, position.seq);
  if (result.kind === 'stored') return result.seq;
  const problem = result.kind === 'refused' ? result.message : result.cause;
  throw new NatterError('unavailable', `the erasure of ${key} could not be repeated: ${problem}`);
};
