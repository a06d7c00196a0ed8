import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { untilReady, watchProblems } from '../../../../services/cli/runtime/health/report.ts';
import { startSession } from '../../../../services/session/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock as clock } from '../../../../shared/kit/clock.ts';
import { readinessOf } from '../../../../shared/kit/health-problem.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { fakeTools } from '../../../support/fake-tools.ts';

test('a tool that is missing is a warning: the service is ready without it (A5/62)', async () => {
  const log = pino({ level: 'silent' });
  const ports = openInMemory({ clock }).portsFor('host');
  const missing = 'mcp server "mail" is not connected';
  const tools = { ...fakeTools(), problems: () => [missing] };
  const service = await startSession({ config: configSchema.parse({}), ports, log, member: 'host', env: {}, tools });
  const over = new AbortController();
  try {
    const { signal } = over;
    expect(await untilReady([service], { clock, patienceMs: 5_000, signal })).toEqual([]);
    expect(service.metrics()).toMatchObject({ tool_problems: 1 });
    const told: (readonly string[])[] = [];
    void watchProblems([service], { clock, log, signal, changed: (problems) => void told.push(problems) });
    await vi.waitFor(() => expect(told).toEqual([[`session: ${missing}`]]));
  } finally {
    over.abort();
    await service.stop(2_000);
  }
});

test('a message that holds up the others of its partition is a warning: one bad session makes no process unready (F24)', async () => {
  const log = pino({ level: 'silent' });
  const ports = openInMemory({ clock }).portsFor('host');
  const busy = 'partition 3 has been busy with message 7 for a long time';
  const consume: Ports['commands']['consume'] = async (options) => ({
    ...(await ports.commands.consume(options)),
    warnings: () => [busy],
  });
  const commands: Ports['commands'] = { ...ports.commands, partitionOf: () => 0, consume };
  const given = { config: configSchema.parse({}), log, member: 'host', env: {}, tools: fakeTools() };
  const service = await startSession({ ...given, ports: { ...ports, commands } });
  expect(readinessOf(service.problems()).status).toBe('ready');
  expect(service.warnings?.()).toEqual([busy]);
  await service.stop(2_000);
});
