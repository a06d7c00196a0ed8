import { acceptLoss, findLoss, type LossTools } from '../../../services/cli/runtime/log-loss.ts';
import type { InMemorySystem } from '../../../shared/adapters/in-memory/open.ts';
import { createWritersWitness, type WritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { createIndexRepair } from '../../../shared/adapters/kv/index-repair.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { SimOptions } from './options.ts';

/** Pause of a person before the command is called again, ms. */
const againMs = 500;

/** A person runs the product's `natter log accept` until it succeeds; `decided` is called before others may go on. */
export const acceptInMemory = async (
  { system, outside }: { readonly system: InMemorySystem; readonly outside: Ports },
  clock: Clock,
  { givesUp }: Pick<SimOptions, 'givesUp'>,
  decided: () => void,
): Promise<void> => {
  const { buckets, events } = system;
  const witness = createWritersWitness(buckets.witness);
  const accept: WritersWitness['accept'] = (seen) => {
    decided();
    return witness.accept(seen);
  };
  const tools: LossTools = {
    ports: outside,
    cursors: outside.cursors,
    memory: outside.memory,
    witness: { ...witness, accept },
    indexRepair: createIndexRepair(buckets.index),
    dropSnapshots: async () => buckets.snapshots.recreate(),
    giveUpPlaces: async (_, through) => {
      if (givesUp) events.kept.giveUp(through);
    },
  };
  for (;;) {
    try {
      const loss = await findLoss(tools);
      if (loss !== null) await acceptLoss(tools, loss, { actor: 'operator:olga', reason: 'no copy is left' });
      return;
    } catch {
      await clock.sleep(againMs);
    }
  }
};
