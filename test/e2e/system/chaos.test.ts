import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceProcess } from '../../chaos/host-process.ts';
import { run } from '../../chaos/run.ts';
import { hostOf, killHostInMidTurn, killServer, onlyNode, type Scenario } from '../../chaos/scenarios.ts';
import { startServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/** The short form of `npm run chaos` (`docs/develop/chaos.md`): real processes, one kill each. */
const twoKills: Scenario = {
  title: 'kill -9 of a session host in mid-turn, then of the server',
  setups: ['r1'],
  play: async (stage) => {
    await killHostInMidTurn(stage, hostOf(stage, stage.random.between(0, 1)));
    await killServer(stage, onlyNode(stage), 'the server');
  },
};

test('a host and then the broker are killed under load: nothing is lost, doubled or reordered, and every turn ends (I1-I5, I10)', async () => {
  const { report } = await run({
    scenario: twoKills,
    setup: 'r1',
    seed: 20_251_121,
    keys: 32,
    commandsPerSecond: 60,
    hosts: 2,
    maxAckPending: 1,
    beforeMs: 1_000,
    afterMs: 1_000,
  });
  expect(report.violations).toEqual([]);
  expect(report.missed, 'each fault did what it is for').toEqual([]);
  expect(report.resumedTurns).toBeGreaterThan(0);
  expect(report.commands).toBeGreaterThan(100);
}, 120_000);

test('a host that cannot start although it has a broker ends, so that whoever watches over it starts it again', async () => {
  const server = await startServer();
  await provisionFor(server, { partitions: 64 });
  const home = mkdtempSync(join(tmpdir(), 'natter-chaos-'));
  const model = { providers: { away: { kind: 'anthropic', apiKeyEnv: 'NATTER_TEST_NO_SUCH_KEY' } } };
  writeFileSync(join(home, 'natter.json'), JSON.stringify({ model, agent: { model: 'away/x' } }), { mode: 0o600 });
  const environment = { NATS_URL: server.url, NATS_USERS_DIR: server.usersDir, NATTER_DATA_DIR: home };
  const host = serviceProcess('session', environment);
  await expect(host.start()).rejects.toThrow('ended at its start: 2');
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}, 90_000);
