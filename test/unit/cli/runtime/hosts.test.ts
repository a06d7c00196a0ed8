import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startHosts } from '../../../../services/cli/runtime/hosts.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';

test('a host has more room for new objects than Node gives by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-hosts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [program, report] = [join(folder, 'host.mjs'), join(folder, 'report')];
  // Much of what it makes stays, so that the room grows as far as it may.
  writeFileSync(
    program,
    `import { writeFileSync, renameSync } from 'node:fs';
    import { getHeapSpaceStatistics } from 'node:v8';
    const kept = [];
    for (let at = 0; at < 3_000_000; at++) kept[at % 500_000] = { at, each: [at] };
    const { physical_space_size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    writeFileSync(process.argv[2] + '.new', String(physical_space_size / 1024 / 1024));
    renameSync(process.argv[2] + '.new', process.argv[2]);
    process.on('SIGTERM', () => process.exit());
    process.send('ready');`,
  );
  const hosts = startHosts({
    ...{ count: 1, program, programArguments: [report], env: process.env, logFile: 2 },
    ...{ clock: systemClock, log: pino({ level: 'silent' }) },
  });
  onTestFinished(() => hosts.stop(10_000));
  await vi.waitFor(() => expect(hosts.problems()).toEqual([]), { timeout: 60_000, interval: 20 });
  expect(Number(readFileSync(report, 'utf8'))).toBeGreaterThan(32);
}, 120_000);
