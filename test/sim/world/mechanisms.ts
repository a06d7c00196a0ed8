import { allOn } from '../../../services/session/turn/safety-toggles.ts';
import { ungrouped } from '../../../shared/adapters/streams/group-commit.ts';
import { optionsOf, type SimOptions } from './options.ts';

/** Hosts that pause, lose their sessions, never hear of it and get them back: several of them believe that they own the same. */
export const unaware: Partial<SimOptions> = {
  ...{ forgetsLost: false, hosts: 2, keys: 2, residents: 20 },
  weights: { ...optionsOf(0).weights, pause: 16, wait: 24, stop: 20, deactivate: 15, leave: 0, crash: 1 },
};

/** The mechanisms that make the system safe, each with what is changed to do without it. */
export const mechanisms: Readonly<Record<string, Partial<SimOptions>>> = {
  fencing: { safetyToggles: { ...allOn, fencing: false } },
  deduplication: { safetyToggles: { ...allOn, deduplication: false } },
  idMemory: { keys: 1, safetyToggles: { ...allOn, idMemory: false } },
  stopOnUncommitted: { safetyToggles: { ...allOn, stopOnUncommitted: false } },
  /** Ownership hides it; so it is looked at where that fails. */
  freshness: { ...unaware, safetyToggles: { ...allOn, freshness: false } },
  intents: { safetyToggles: { ...allOn, intents: false } },
  /** More than one command of a partition out at a time: a later one can be recorded first, and the watermark then passes the earlier. */
  oneOutstanding: { maxAckPending: 8 },
  chain: { store: 'damaged', chain: false },
  guard: { store: 'rolled back', guards: false },
  /** Groups alone are what is looked at: a commit that goes by itself has its fence. */
  groupFences: { grouping: { from: 1, singles: 1 }, groupFences: false },
  /** Not a safety mechanism: sessions behave the same both ways. */
  grouping: { grouping: ungrouped },
  comparison: { store: 'rolled back', compares: false },
  witness: { store: 'lost', guards: false },
  acceptance: { store: 'lost', accepts: false },
  guardedCaches: { store: 'lost', guardsCaches: false },
  givenUpPlaces: { store: 'lost', givesUp: false },
};

/** Options to run without a mechanism; nothing for an empty name. */
export const withoutMechanism = (name: string): Partial<SimOptions> => {
  const change = name === '' ? {} : mechanisms[name];
  if (change === undefined) throw new Error(`no mechanism "${name}"; there are: ${Object.keys(mechanisms).join(', ')}`);
  return change;
};
