import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { numbered, startServer, type TestServer } from '../../support/nats.ts';
import { ask, heard, key, openDoom, rememberedIn, reset, say } from './doomed.ts';
import { coverageOf, faultsIn, lookedBackOnAll, openStage, type Stage } from './rig.ts';

/**
 * A7/84: a real checkpoint service freezes in the middle of its work. Another one does it, the session is reset, forked or erased and talked
 * in, and then the first goes on where it was, with what it knew: nothing of that counts.
 */
const moments = ['before introspection', 'after answer', 'before command', 'after command'];
const changes: Record<string, (stage: Stage) => Promise<unknown>> = {
  'was reset': (stage) => reset(stage, 'r1'),
  'was forked': async (stage) => {
    const [{ seq, rev, sessionId }] = (await stage.commits()) as [Awaited<ReturnType<Stage['commits']>>[number]];
    return stage.send(key, { type: 'fork', sessionId: 's2', from: { sessionId, seq, rev, contextSeq: seq, skips: [] } }, 'f1');
  },
  'was erased': ({ send }) => send(key, { type: 'delete_session', mode: 'erased', reason: 'test' }, 'd1'),
};
let server: TestServer;
let doom: ReturnType<typeof openDoom>;

beforeAll(async () => {
  const prefixes = moments.flatMap((_, moment) => numbered(`frozen-${moment}-`, Object.keys(changes).length));
  server = await startServer({ prefixes });
  doom = openDoom(server);
});
afterAll(async () => {
  doom.close();
  await server.stop();
});

const thawed = async (at: string, change: (stage: Stage) => Promise<unknown>) => {
  const prefix = `frozen-${moments.indexOf(at)}-${Object.values(changes).indexOf(change)}`;
  const stage = await openStage(server, prefix);
  const first = await doom.start(prefix, 'first', { at, by: 'SIGSTOP' });
  const frozen = heard(first, 'frozen');
  await say(stage, 'm1');
  await ask(stage, 'a1');
  await frozen;
  const second = await doom.start(prefix, 'second');
  await lookedBackOnAll(stage);
  await change(stage);
  await say(stage, 'm2', 's2');
  const atRest = heard(first, 'at rest');
  first.kill('SIGCONT');
  await atRest;
  await vi.waitFor(async () => expect(await stage.ports.commands.lag()).toBe(0), { interval: 50 });
  await ask(stage, 'a2');
  await lookedBackOnAll(stage);
  const commits = await stage.commits();
  for (const child of [first, second]) child.kill('SIGKILL');
  await stage.close();
  return commits;
};

test.each(Object.entries(changes))(
  'A7/84: what a frozen service still says when the session %s changes nothing',
  async (_, change) => {
    await Promise.all(
      moments.map(async (at) => {
        const commits = await thawed(at, change);
        const counts = coverageOf(commits);
        expect([...counts.keys()], `${at}: ${JSON.stringify([...counts])}`).toEqual([1]);
        expect(counts.get(1), at).toHaveLength(2);
        expect(faultsIn(commits), at).toEqual([]);
        expect(rememberedIn(commits), at).toEqual(['m1', 'm2']);
        expect(commits.flatMap(({ events }) => events).filter(({ type }) => type === 'introspection_failed')).toEqual([]);
      }),
    );
  },
  180_000,
);
