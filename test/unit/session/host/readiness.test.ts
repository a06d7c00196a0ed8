import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { untilReady, watchProblems } from '../../../../services/cli/runtime/health.ts';
import { startSession } from '../../../../services/session/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock as clock } from '../../../../shared/kit/clock.ts';
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
