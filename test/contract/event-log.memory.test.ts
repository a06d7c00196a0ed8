import { MemoryEventLog } from '../../shared/adapters/memory/event-log.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { eventLogContract } from './event-log.contract.ts';

for (const semantics of ['R1', 'R3'] as const) {
  eventLogContract(`memory, ${semantics} semantics`, async () => {
    const bad: number[] = [];
    const log = new MemoryEventLog({ clock: systemClock, semantics, onBad: ({ seq }) => bad.push(seq) });
    return {
      log,
      bad,
      repeats: semantics === 'R1' ? 'unknown' : 'stored',
      storeRaw: async (headline, key, data) => log.storeRaw(headline, key, data),
      close: async () => {},
    };
  });
}
