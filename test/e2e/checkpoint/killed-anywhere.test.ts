import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { numbered, startServer, type TestServer } from '../../support/nats.ts';
import { ask, openDoom, rememberedIn, reset, say } from './doomed.ts';
import { lookedBackOnAll, openStage, type Stage } from './rig.ts';

/**
 * A7/80, 84: a real checkpoint service is killed with SIGKILL at every moment of its work: before and after each message that it publishes or
 * handles, each position of its requests that it writes and each step of its model, which is asked again after bad answers and gives none about
 * one stretch. Another one goes on: it is there already at every other moment. Every stretch is introspected once, and fails as often as it is
 * asked for.
 */
/** At least: three requests, each published, handled, thought about and answered, with a second answer or slice. Two moments each. */
const leastMoments = 32;
const atOnce = 8;
let server: TestServer;
let doom: ReturnType<typeof openDoom>;

beforeAll(async () => {
  server = await startServer({ prefixes: numbered('doom', 100) });
  doom = openDoom(server);
});
afterAll(async () => {
  doom.close();
  await server.stop();
});

/** Three requests, each of which overlaps the one before, of two generations. */
const speak = async (stage: Stage): Promise<void> => {
  await say(stage, 'm1');
  await ask(stage, 'a1');
  await say(stage, 'poison');
  await ask(stage, 'a2');
  await say(stage, 'm3');
  await reset(stage, 'r1');
};

type Outcome = { readonly killed: boolean; readonly commits: Awaited<ReturnType<Stage['commits']>> };
const killedAt = async (at: number, isHeirThere: boolean): Promise<Outcome> => {
  const prefix = `doom${at}`;
  const stage = await openStage(server, prefix);
  await speak(stage);
  const doomed = await doom.start(prefix, 'first', { at });
  const gone = doomed.exitCode === null && doomed.signalCode === null ? once(doomed, 'exit') : Promise.resolve();
  if (!isHeirThere) await Promise.race([gone, lookedBackOnAll(stage).catch(() => {})]);
  const killed = doomed.signalCode === 'SIGKILL';
  const heir = await doom.start(prefix, 'second');
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
      const moment = next++;
      const isHeirThere = moment % 2 === 0;
      const { killed, commits } = await killedAt(moment, isHeirThere);
      if (!killed && !isHeirThere) {
        survived = true;
        expect(moment, 'moments of introspection').toBeGreaterThan(leastMoments);
      }
      const came = commits.flatMap(({ events }) =>
        events.flatMap((event) =>
          event.type === 'introspected' || event.type === 'introspection_failed'
            ? [`${event.type} ${event.reason} ${event.fromRev}-${event.toRev}`]
            : [],
        ),
      );
      expect(came, `at moment ${moment}`).toEqual([
        'introspected manual 1-1',
        'introspection_failed manual 2-3',
        'introspection_failed new_session 2-3',
        'introspected new_session 4-5',
      ]);
      expect(rememberedIn(commits), `remembered at moment ${moment}`).toEqual(['m1', 'm3']);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}, 600_000);
