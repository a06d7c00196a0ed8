import { expect, test } from 'vitest';
import { findLoss } from '../../../../services/cli/runtime/log-loss.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { createWritersWitness } from '../../../../shared/adapters/kv/guards/writers-witness.ts';
import { createIndexRepair } from '../../../../shared/adapters/kv/index-repair.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { commitTo, freshKey, recorded } from '../../../support/domain/commits.ts';

/** A log of five commits of which the third to the fifth are not there; somebody has seen a sixth. */
test('I13: a broker that cut the log off may say that it ended later: what is lost begins behind the last commit that is there', async () => {
  const system = openInMemory({ clock: systemClock });
  const ports = system.portsFor('operator');
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => freshKey(`agent:main:${name}`));
  for (const key of keys.slice(0, 5)) expect(await ports.events.append(commitTo(key), 0)).toMatchObject({ kind: 'stored' });
  await ports.index.put(
    keys.map((key, at) => summarize(null, recorded(commitTo(key), at + 1))),
    6,
  );
  for (const seq of [3, 4, 5]) system.events.kept.spoil(seq);
  const unused = () => Promise.reject(new Error('nothing is changed'));
  const loss = await findLoss({
    ...{ ports, cursors: ports.cursors, memory: ports.memory, dropSnapshots: unused, giveUpPlaces: unused },
    ...{ witness: createWritersWitness(system.buckets.witness), indexRepair: createIndexRepair(system.buckets.index) },
  });
  expect(loss).toMatchObject({ lastSeq: 5, keptThrough: 2, reached: 6 });
  expect(loss?.sessions.toSorted()).toEqual(keys.slice(2));
});
