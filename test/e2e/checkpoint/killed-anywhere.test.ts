import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/nats.ts';
import { ask, keyOf, openDoom, rememberedIn, reset, say } from './doomed.ts';
import { lookedBackOnAll, openStage, type Stage } from './rig.ts';

/**
 * A7/80, 84: a real checkpoint service is killed with SIGKILL at every moment of its work: before and after each message that it publishes or
 * handles, each position of its requests that it writes and each step of its model, which is asked again after bad answers and gives none about
 * one stretch. Another one goes on: it is there already at every other moment. Every stretch is introspected once, and fails as often as it is
 * asked for.
 */
/** At least: three requests, each published, handled, thought about and answered, with a second answer or slice. Two moments each. */
const leastMoments = 32;
const chains = ['waits-1', 'waits-2', 'waits-3', 'works-1', 'works-2', 'works-3'];
let server: TestServer;
let doom: ReturnType<typeof openDoom>;

beforeAll(async () => {
  server = await startServer({ prefixes: chains });
  doom = openDoom(server);
});
afterAll(async () => {
  doom.close();
  await server.stop();
});

/** Three requests of one person's session, each of which overlaps the one before, of two generations. */
const speak = async (stage: Stage, person: string): Promise<void> => {
  await say(stage, `${person}-m1`, 's1', person);
  await ask(stage, `${person}-a1`, person);
  await say(stage, `${person}-poison`, 's1', person);
  await ask(stage, `${person}-a2`, person);
  await say(stage, `${person}-m3`, 's1', person);
  await reset(stage, `${person}-r1`, person);
};

type Outcome = { readonly killed: boolean; readonly commits: Awaited<ReturnType<Stage['commits']>> };
/** A chain of services, where each goes on with the work of the one before it and is then the next to be killed. */
const chainOf = async (prefix: string, isHeirThere: boolean) => {
  const stage = await openStage(server, prefix);
  let count = 0;
  const start = () => doom.start(prefix, `service-${count++}`);
  const services = [await start()];
  const killedAt = async (moment: number): Promise<Outcome> => {
    if (isHeirThere && services.length < 2) services.push(await start());
    const all = (said: number | 'hold') => Promise.all(services.map((service) => doom.tell(service, said)));
    const person = `p${moment}`;
    await all('hold');
    await speak(stage, person);
    const [doomed, ...heirs] = services as [ChildProcess, ...ChildProcess[]];
    const gone = once(doomed, 'exit');
    await Promise.all([doom.tell(doomed, moment), ...heirs.map((heir) => doom.tell(heir, 0))]);
    await Promise.race([gone, lookedBackOnAll(stage)]);
    const killed = !(await doom.tell(doomed, 0));
    if (killed) services.shift();
    if (services.length === 0) services.push(await start());
    await lookedBackOnAll(stage);
    return { killed, commits: (await stage.commits()).filter(({ key }) => key === keyOf(person)) };
  };
  return { killedAt, close: stage.close };
};

test('A7/84: a checkpoint service killed at every moment loses nothing and repeats nothing', async () => {
  let survived = false;
  const kills = { waits: 0, works: 0 };
  const next = { waits: 1, works: 2 };
  const work = async (prefix: string): Promise<void> => {
    const kind = prefix.startsWith('works') ? 'works' : 'waits';
    const chain = await chainOf(prefix, kind === 'works');
    while (!survived) {
      const moment = next[kind];
      next[kind] += 2;
      const { killed, commits } = await chain.killedAt(moment);
      if (killed) kills[kind] += 1;
      if (!killed && kind === 'waits') {
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
      expect(rememberedIn(commits), `remembered at moment ${moment}`).toEqual([`p${moment}-m1`, `p${moment}-m3`]);
    }
    await chain.close();
  };
  await Promise.all(chains.map(work));
  expect(kills.waits, 'killed with nobody there').toBeGreaterThan(leastMoments / 2);
  expect(kills.works, 'killed with an heir there').toBeGreaterThan(leastMoments / 8);
}, 600_000);
