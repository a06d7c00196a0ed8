import { expect, test } from 'vitest';
import { topologyFor } from '../../../services/cli/runtime/broker.ts';
import {
  answersIn,
  backUpTo,
  cluster,
  configAt,
  envelope,
  freshFolder,
  provisioned,
  restoreFrom,
  running,
  until,
} from './rig.ts';

test('I13: three servers that a backup was restored to may stop and start again: nothing counts as lost', async () => {
  const old = await provisioned();
  const before = await running(old);
  await before.ports.inbound.publish(envelope('ann', 'ann was here'));
  await until(() => expect(before.sent).toHaveLength(1));
  await before.stop();
  const folder = await freshFolder();
  await backUpTo(folder, old.url);

  const servers = await cluster();
  await restoreFrom(folder, servers.url);
  const after = await running(servers);
  await until(() => expect(after.problems()).toEqual([]));
  await after.ports.inbound.publish(envelope('bob', 'bob was here'));
  await until(() => expect(after.sent).toHaveLength(1));
  // Shares what it has seen, as at any stop.
  await after.stop();

  // The server that took the pieces of the backup has its own idea of when the streams were made.
  await Promise.all(servers.nodes.map((node) => node.restart()));
  for (const { name } of topologyFor(configAt(servers.url)).streams) await servers.leaderOf(name);
  const later = await running(servers);
  await until(() => expect(later.problems()).toEqual([]));
  await later.ports.inbound.publish(envelope('carl', 'carl was here'));
  await until(async () => expect(await answersIn(later, ['ann', 'bob', 'carl'])).toHaveProperty('size', 3));
}, 120_000);
