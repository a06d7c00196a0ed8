import { Counter, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../shared/kit/clock.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { CustodyState, Outbound } from '../../shared/ports/custody-log.ts';
import { boundedLabel } from '../../shared/runtime/telemetry/labels.ts';

/** Counts and times deliveries, by channel and state. The number of channels is bounded. */
export const createDeliveryMeters = (clock: Pick<Clock, 'monotonic'>) => {
  const series = new Registry();
  const deliveries = new Counter({
    name: 'natter_deliveries_total',
    help: 'Custody records of outgoing messages, by channel and state.',
    labelNames: ['channel', 'state'],
    registers: [series],
  });
  const durations = new Histogram({
    name: 'natter_delivery_duration_seconds',
    help: 'Time from reading an outgoing message to its final state, including all attempts.',
    labelNames: ['channel', 'state'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
    registers: [series],
  });
  const channelOf = boundedLabel(limits.metricLabels);
  /** The last state of each outbound in hand. */
  const states = new Map<string, CustodyState>();

  return {
    series,
    recorded: (state: CustodyState, { id, target }: Outbound): void => {
      deliveries.inc({ channel: channelOf(target.channel), state });
      states.set(id, state);
    },
    /**
     * Measures `deliver`, which resolves with true when the outbound is in a final state. Resolves with that state; `known`: it was in a
     * final state before; `left`: it is not in one yet.
     */
    timed: async ({ id, target }: Outbound, deliver: () => Promise<boolean>): Promise<CustodyState | 'known' | 'left'> => {
      const began = clock.monotonic();
      const isFinal = await deliver();
      const state = states.get(id);
      states.delete(id);
      if (!isFinal) return 'left';
      if (state === undefined) return 'known';
      durations.observe({ channel: channelOf(target.channel), state }, (clock.monotonic() - began) / 1_000);
      return state;
    },
  };
};
export type DeliveryMeters = ReturnType<typeof createDeliveryMeters>;
