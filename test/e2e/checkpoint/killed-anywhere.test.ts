import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/nats.ts';
import { faultsIn, lookedBackOnAll, openStage, rangesIn, type Stage } from './rig.ts';

/**
 * A7/80, 84: a real checkpoint service is killed with SIGKILL at every moment of its work: before and after each message that it publishes or
 * handles, each position of its requests that it writes and each step of its model. Another one goes on. Every stretch is looked back on once.
 */
const program = fileURLToPath(new URL('../../../dist/test/chaos/doomed-checkpoint.js', import.meta.url));
const key = 'agent:main:irc:dm:ann';
/** At least: three requests, each published, handled, thought about and answered. Two moments each. */
const leastMoments = 24;
const atOnce = 8;
let server: TestServer;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.stop();
});

const checkpointOf = async (prefix: string, member: string, doomAt: number): Promise<ChildProcess> => {
  const env = {
    ...process.env,
    ...{ DOOM_AT: String(doomAt), DOOM_PREFIX: prefix, DOOM_MEMBER: member, NATS_URL: server.url },
  };
  const child = fork(program, [], { env, stdio: 'inherit' });
  children.add(child);
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  return child;
};

/** Three requests, two of which overlap, of two generations. */
const speak = async ({ send }: Stage): Promise<void> => {
  const say = (id: string) =>
    send(
      key,
      {
        ...{ type: 'append_message', sessionId: 's1' },
        message: { messageId: id, text: `remember that ${id}`, sender: { id: 'ann', principal: 'irc:ann' } },
      },
      id,
    );
  const ask = (id: string) => send(key, { type: 'request_checkpoint', why: { reason: 'manual' } }, id);
  await say('m1');
  await ask('a1');
  await say('m2');
  await ask('a2');
  await say('m3');
  await send(key, { type: 'reset', sessionId: 's2', cause: { trigger: 'command', rule: '/new', lastUpdateAt: 0 } }, 'r1');
};

const killedAt = async (doomAt: number): Promise<{ killed: boolean; commits: Awaited<ReturnType<Stage['commits']>> }> => {
  const prefix = `doom${doomAt}`;
  const stage = await openStage(server.url, prefix);
  await speak(stage);
  const doomed = await checkpointOf(prefix, 'first', doomAt);
  const gone = doomed.exitCode === null && doomed.signalCode === null ? once(doomed, 'exit') : Promise.resolve();
  await Promise.race([gone, lookedBackOnAll(stage).catch(() => {})]);
  const killed = doomed.signalCode === 'SIGKILL';
  const heir = await checkpointOf(prefix, 'second', 0);
  await lookedBackOnAll(stage);
  const commits = await stage.commits();
  for (const child of [doomed, heir]) child.kill('SIGKILL');
  await stage.close();
  return { killed, commits };
};

test('A7/84: a checkpoint service killed at every moment loses nothing and repeats nothing', async () => {
  let next = 1;
  let survived = false;
  const worker = async (): Promise<void> => {
    while (!survived) {
      const doomAt = next++;
      const { killed, commits } = await killedAt(doomAt);
      if (!killed) {
        survived = true;
        expect(doomAt, 'moments of looking back').toBeGreaterThan(leastMoments);
      }
      expect(faultsIn(commits), `at moment ${doomAt}`).toEqual([]);
      expect([...rangesIn(commits).values()], `at moment ${doomAt}`).toEqual([
        [
          { from: 1, to: 1 },
          { from: 2, to: 3 },
          { from: 4, to: 5 },
        ],
      ]);
      const added = commits.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === 'memory_changed' ? event.changes : [])),
      );
      expect(
        added.map((change) => change.op === 'add' && change.text),
        `remembered at moment ${doomAt}`,
      ).toEqual(['m1', 'm2', 'm3']);
      expect(commits.flatMap(({ events }) => events).filter(({ type }) => type === 'introspection_failed')).toEqual([]);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}, 600_000);
