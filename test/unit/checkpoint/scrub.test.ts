import { expect, test, vi } from 'vitest';
import { startScrubber } from '../../../services/checkpoint/scrub/scrub.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import { afterwards } from '../../support/afterwards.ts';
import { commitTo, keyOf } from '../../support/domain/commits.ts';

const key = keyOf('agent:main:ann');

/** One round of a scrubber over a log of three commits of one session and one of another, and what it says. */
const scrubbed = async ({ spoiled }: { spoiled?: number }) => {
  const system = openInMemory({ clock: systemClock });
  const ports = system.portsFor('checkpoint');
  for (const rev of [1, 2, 3]) await ports.events.append(commitTo(key, { rev }), rev - 1);
  await ports.events.append(commitTo(keyOf('agent:main:bob')), 0);
  if (spoiled !== undefined) system.events.kept.spoil(spoiled);
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLog({ level: 'info', name: 'test', destination });
  const scrubber = startScrubber({ ports, log, member: 'one', config: configSchema.parse({}).scrub });
  afterwards(() => scrubber.stop(1_000));
  await vi.waitFor(() => expect(scrubber.metrics()).toMatchObject({ scrub_runs_total: 1 }));
  return { lines, metrics: scrubber.metrics(), warnings: scrubber.warnings?.() };
};

test('a scrub that finds nothing logs nothing; its metrics say that it ran, and how far', async () => {
  const { lines, metrics, warnings } = await scrubbed({});
  expect(lines).toEqual([]);
  expect(warnings).toEqual([]);
  expect(metrics).toMatchObject({ scrub_commits_total: 4, scrub_position: 4, scrub_active: 1, scrub_damaged_sessions: 0 });
  expect(metrics.scrub_bytes_total).toBeGreaterThan(100);
});

test('F13: a scrub that finds a damaged session logs one line with its key and its place', async () => {
  const { lines, metrics, warnings } = await scrubbed({ spoiled: 2 });
  expect(lines).toMatchObject([
    { level: 'error', key, seq: 3, reason: 'missing', msg: 'session is damaged: its log is not as it was written' },
  ]);
  expect(warnings).toEqual([expect.stringContaining('1 session is damaged')]);
  expect(metrics).toMatchObject({ scrub_damaged_sessions: 1 });
});
