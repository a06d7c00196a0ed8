import type { z } from 'zod';
import { limits } from '../../../kit/limits.ts';
import type { ForkBase } from '../../values/fork-base.ts';
import type { arrivals } from '../arrivals.ts';
import type { HistoryGap } from '../chain.ts';
import type { SessionEvent } from '../events.ts';
import type { SessionState } from '../fold/evolve.ts';
import { type Decision, refuse } from './decision.ts';
import { noticeEvent, stopRunsEvents } from './generation.ts';

/** A whole session has nothing to repair; a damaged one is in no state that a rule could see: `repairEvents` decides about it. */
export const repairHistory = (): Decision => refuse('not_damaged', 'every commit of the session is there and as it was written');

/** A damaged session, and the decision to go on. */
export interface Repair {
  /** The first gap, with the last rev that is lost. */
  readonly gap: Pick<HistoryGap, 'reason' | 'fromRev'> & { readonly toRev: number };
  /** What is still known of the session, by its newest snapshot and the commits that can be read. */
  readonly known: SessionState;
  readonly by: string;
  readonly reason: string;
  /** Of the generation that starts. */
  readonly sessionId: string;
}

/**
 * The events of a commit that depends on nothing before it (F13): settings, origin and route as known, and a new generation that continues the
 * conversation as far as it can be read. A repeat of what is known to have arrived stays one (D9). Turn, queue, approvals and grants end:
 * what became of them is not known.
 */
export const repairEvents = ({ gap, known, by, reason, sessionId }: Repair): SessionEvent[] => {
  const { settings, origin, route, spawned, ...context } = known.machine.context;
  const generation = Math.max(1, context.generation);
  const last = { sessionId: context.sessionId, generation, epoch: context.epoch };
  const { reason: damage, fromRev, toRev } = gap;
  const carried: SessionEvent[] = [
    ...(isEmpty(settings) ? [] : [{ type: 'settings_changed', v: 1, changes: settings } as const]),
    ...(isEmpty(origin) ? [] : [{ type: 'origin_changed', v: 1, origin } as const]),
    ...(route === null ? [] : [{ type: 'route_changed', v: 1, deliverTo: route } as const]),
  ];
  const stopped = stopRunsEvents(spawned, reason);
  const damaged: SessionEvent = {
    ...{ type: 'history_damaged', v: 1, damage, fromRev, toRev, by, reason, ...last },
    arrivals: arrivalsIn(known),
  };
  if (context.deleted) {
    const deleted: SessionEvent = {
      ...{ type: 'session_deleted', v: 1, mode: 'key', ...last, epoch: last.epoch + 1, turnIds: [], reason },
    };
    return [damaged, ...stopped, deleted];
  }
  const forkedFrom = forkBaseIn(known);
  return [
    ...[damaged, ...carried, ...stopped],
    {
      ...{ type: 'session_reset', v: 1, previousSessionId: last.sessionId, sessionId, generation: generation + 1 },
      ...{ reason: 'damage', ...(forkedFrom && { forkedFrom }) },
    },
    ...(route === null ? [] : [noticeEvent(settings, { code: 'history_damaged', text: lost, deliverTo: route })]),
  ];
};

/** The lists of an event are its own. */
const arrivalsIn = ({ position: { recentIds, olderIds, orders, revisable, calls } }: SessionState): z.infer<typeof arrivals> => ({
  ...{ recentIds: [...recentIds], olderIds: [...olderIds], orders: [...orders], revisable: [...revisable], calls: [...calls] },
});

const lost = 'Part of this conversation was lost by the store it was kept in. It goes on from what is left.';

const isEmpty = (values: object): boolean => Object.keys(values).length === 0;

/** From where the conversation continues; nothing if nothing is known of it. */
const forkBaseIn = ({ machine: { context }, position }: SessionState): ForkBase | undefined => {
  const { seq, rev, contextSeq, skips } = position;
  if (rev === 0 || contextSeq === 0 || skips.length >= limits.forkDepth) return undefined;
  return { sessionId: context.sessionId, seq, rev, contextSeq, skips };
};
