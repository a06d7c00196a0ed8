import { allOn } from '../../services/session/switches.ts';
import type { SimOptions } from './options.ts';

/** The mechanisms that make the system safe, each with what is changed to do without it. */
export const mechanisms: Readonly<Record<string, Partial<SimOptions>>> = {
  fencing: { switches: { ...allOn, fencing: false } },
  deduplication: { switches: { ...allOn, deduplication: false } },
  stopOnUncommitted: { switches: { ...allOn, stopOnUncommitted: false } },
  intents: { switches: { ...allOn, intents: false } },
  /** More than one command of a partition out at a time: a later one can be recorded first, and the watermark then passes the earlier. */
  oneOutstanding: { maxAckPending: 8 },
};

/** Options to run without a mechanism; nothing for an empty name. */
export const withoutMechanism = (name: string): Partial<SimOptions> => {
  const change = name === '' ? {} : mechanisms[name];
  if (change === undefined) throw new Error(`no mechanism "${name}"; there are: ${Object.keys(mechanisms).join(', ')}`);
  return change;
};
