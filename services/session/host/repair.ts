import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import { repairEvents } from '../../../shared/domain/session/decide/repair.ts';
import { repeatOf } from '../../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope, Commit } from '../../../shared/domain/session/envelope.ts';
import { evolve, initialState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { damaged } from '../../../shared/domain/session/fold/history-fold.ts';
import type { NatterError } from '../../../shared/kit/errors.ts';
import { type DamageSurvey, type SurveyPorts, surveyDamage } from '../../../shared/runtime/damage-survey.ts';
import { commitFenced } from './commit.ts';
import type { Origin, Outcome } from './outcome.ts';
import type { SessionServices } from './session-services.ts';

/** A person's decision to go on with a damaged session. */
export type RepairEnvelope = CommandEnvelope & { readonly data: CommandOf<'repair_history'> };

export const isRepairCommand = (envelope: CommandEnvelope): envelope is RepairEnvelope => envelope.data.type === 'repair_history';

/**
 * Records the decision: one commit from which the session goes on (F13), fenced like any other. `null` if the session has no gap: then it
 * is a command like others. Throws as `surveyDamage`.
 */
export const repairSession = async (
  envelope: RepairEnvelope,
  origin: Origin,
  services: RepairServices,
): Promise<Outcome | null> => {
  const { ports, commitPatienceMs: patienceMs, safetyToggles, stopping: signal } = services;
  const { fencing, deduplication } = safetyToggles;
  const survey = await surveyDamage(ports, envelope.key);
  if (survey.gaps.length === 0) return null;
  // One that comes again is no decision about what was damaged since.
  const repeat = deduplication ? repeatOf(envelope, origin, survey.known) : null;
  if (repeat !== null) return { kind: 'duplicate', repeat };
  const commit = repairCommit(envelope, origin, survey, services);
  const result = await commitFenced(ports.events, commit, survey.fenceSeq, { clock: ports.clock, patienceMs, fencing, signal });
  switch (result.kind) {
    case 'committed':
      return { kind: 'accepted', seq: result.seq, rev: commit.rev };
    case 'refused':
      return { kind: 'refused', code: 'too_large', message: result.message };
    case 'fenced':
      return { kind: 'stale' };
    case 'uncommitted':
      return result;
  }
};

type RepairServices = Pick<SessionServices, 'commitPatienceMs' | 'safetyToggles' | 'stopping' | 'newId' | 'member'> & {
  readonly ports: SurveyPorts;
};

const repairCommit = (
  { id, key, at, correlationId, actor, data: { reason } }: RepairEnvelope,
  origin: Origin,
  { gaps, last, newestRev, known }: DamageSurvey,
  { newId, member: host }: RepairServices,
): Commit => {
  const [first] = gaps;
  const toRev = Math.max(...gaps.map((gap) => gap.toRev ?? newestRev));
  const gap = { reason: first?.reason ?? 'missing', fromRev: first?.fromRev ?? toRev, toRev };
  const events = repairEvents({ gap, known, by: actor, reason, sessionId: newId() });
  const { sessionId, epoch } = events.reduce(evolve, initialState.machine).context;
  return {
    ...{ v: 2, id: newId(), key, rev: newestRev + 1, prev: last.digest, sessionId, epoch, at, correlationId },
    ...{
      causationId: id,
      actor,
      host,
      command: { id, seq: origin?.seq ?? null, incarnation: origin?.incarnation ?? null },
      events,
    },
  };
};

/**
 * Reads a session's whole log: why it is damaged, or `null` if it is whole. From then on no host goes on from a snapshot of a damaged one, here
 * or elsewhere, until a person has decided (F13). Throws as `surveyDamage`.
 */
export const checkHistory = async (ports: SurveyPorts, key: SessionKey): Promise<NatterError | null> => {
  const { gaps, known } = await surveyDamage(ports, key);
  const [gap] = gaps;
  if (gap === undefined) return null;
  if (known.position.rev > 0) await ports.snapshots.put(key, { ...toPlain(known), damaged: true });
  return damaged(key, gap);
};
