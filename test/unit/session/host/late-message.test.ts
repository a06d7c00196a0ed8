import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startSession } from '../../../../services/session/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import type { ConsumeOptions } from '../../../../shared/ports/work-queue.ts';
import { command } from '../../../support/domain/given.ts';

/** A host whose partitions the test gives and takes away. */
const startHost = async (ports: Ports, member: string) => {
  let options: ConsumeOptions<CommandEnvelope> | undefined;
  const consume: Ports['commands']['consume'] = async (given) => {
    options = given;
    return { owned: () => [], problems: () => [], warnings: () => [], close: async () => {} };
  };
  const commands: Ports['commands'] = { ...ports.commands, partitionOf: () => 0, consume };
  const log = pino({ level: 'silent' });
  const service = await startSession({ config: configSchema.parse({}), ports: { ...ports, commands }, log, member, env: {} });
  let seq = 0;
  return {
    service,
    handle: (row: string) =>
      options?.handle({ message: command(row), seq: ++seq, incarnation: 1, partition: 0, attempt: 1 }) ?? Promise.reject(),
    acquire: () => options?.acquired?.(0),
  };
};

test('I4, I10: what a late message brought back to memory is forgotten when its partition comes back', async () => {
  const memory = openInMemory({ clock: systemClock });
  const [one, other] = await Promise.all(['host-1', 'host-2'].map((member) => startHost(memory.portsFor(member), member)));
  if (one === undefined || other === undefined) throw new Error('two hosts');
  await one.handle('append m1');
  expect(one.service.metrics().sessions_resident).toBe(1);
  await other.handle('append m2');

  one.acquire();
  expect(one.service.metrics().sessions_resident).toBe(0);
  await one.service.stop(1_000);
  await other.service.stop(1_000);
});
