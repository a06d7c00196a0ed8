import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { startCheckpoint } from '../../../../services/checkpoint/main.ts';
import { startSession } from '../../../../services/session/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { OfflineModel } from '../../../../shared/adapters/model/offline.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { rowOf } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post, rig } from '../rig.ts';
import { script } from '../script.ts';

/** The same model without the short way (ADR 3). */
const stepping = (clock: VirtualClock): Model => {
  const model = new OfflineModel(clock);
  return { name: model.name, windowTokens: model.windowTokens, step: (...given) => model.step(...given) };
};
/** The same model; notes the steps it is asked for. */
const noting = (clock: VirtualClock, steps: string[]): Model => {
  const model = new OfflineModel(clock);
  return {
    name: model.name,
    windowTokens: model.windowTokens,
    step: (request, onText, signal) => {
      steps.push(`${request.turn.id}/${request.turn.attempt} ${request.step}`);
      return model.step(request, onText, signal);
    },
  };
};

describe('an instant turn (ADR 3)', () => {
  test.each(['hello', '[[fail busy]]', '[[silent]]', '[[size 300]]', '[[steps 3]]', '[[think 20]]'])(
    'leaves the events that the recorded loop leaves: %s',
    async (text) => {
      const [instant, looped] = [rig(), rig({ model: stepping })];
      for (const made of [instant, looped]) {
        await made.take(post(text, 'a'));
        await made.clock.pass(1_000);
        await made.take(post('and now', 'b'));
        await made.clock.pass(1_000);
      }
      // What answers at once has no system prompt.
      const [one, other] = [instant, looped].map((made) => made.events().filter(({ type }) => type !== 'prompt_changed'));
      expect(one).toEqual(other);
      expect(instant.events().at(-1)).toMatchObject({ type: 'turn_completed' });
      expect(instant.host.counts.commits).toBeLessThanOrEqual(looped.host.counts.commits);
    },
  );

  test('is one commit', async () => {
    const made = rig();
    await made.take('post a');
    expect(made.system.events.stored()).toHaveLength(1);
  });
});

describe('a turn whose host is gone', () => {
  test('continues at the first step that is not recorded, as a new attempt (B16, I6)', async () => {
    const steps: string[] = [];
    const model = (clock: VirtualClock) => noting(clock, steps);
    const made = rig({ model });
    await made.take(post('[[steps 3]] [[think 100]]', 'a'));
    await made.clock.pass(250);
    made.host.close();
    made.restart({ model });
    await made.host.recover(homeKey);
    await made.clock.pass(1_000);
    expect(steps).toEqual(['a/1 1', 'a/1 2', 'a/1 3', 'a/2 3']);
    expect(made.events().map(rowOf)).toEqual([
      'session_opened s1 g1',
      'user_message a for a turn',
      'turn_started a/1',
      'prompt_changed system prompt',
      'model_step a/1 1 continue',
      'model_step a/1 2 continue',
      'turn_resumed a/2 step 3',
      'model_step a/2 3 stop',
      'assistant_message a/2',
      'turn_completed a/2',
    ]);
  });

  test('fails after the limit of attempts without a finished step', async () => {
    const made = rig();
    await made.take(post('[[think 9000]]', 'a'));
    for (let restart = 0; restart <= limits.turnResumes; restart++) {
      made.host.close();
      made.restart();
      await made.host.recover(homeKey);
      await made.clock.pass(10);
    }
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_failed', code: 'attempts_exhausted' });
    expect(made.events().filter(({ type }) => type === 'turn_resumed')).toHaveLength(limits.turnResumes);
  });

  test('is found by the sweep of another host when no further message comes (I10)', async () => {
    const clock = new VirtualClock(1_790_000_000_000);
    const system = openInMemory({ clock });
    const log = pino({ level: 'silent' });
    const config = configSchema.parse({});
    const host = (member: string) => startSession({ config, ports: system.portsFor(member), log, member, env: {} });
    const checkpoint = await startCheckpoint({ ports: system.portsFor('checkpoint'), log, member: 'checkpoint' });
    const first = await host('first');
    await clock.pass(100);
    await system.commands.publish(post('[[think 4000]]', 'a'));
    await clock.pass(2_000);
    // The process is gone without a word: nothing of it runs on.
    system.commands.crash('first');
    await Promise.race([first.stop(0), clock.pass(50)]);
    expect(
      system.events
        .stored()
        .flatMap(({ events }) => events)
        .at(-1)?.type,
    ).toBe('turn_started');
    const second = await host('second');
    await clock.pass(20_000);
    const rows = system.events.stored().flatMap(({ events }) => events.map(rowOf));
    expect(rows).toContain('turn_resumed a/2 step 1');
    expect(rows.at(-1)).toBe('turn_completed a/2');
    await Promise.all([second.stop(1_000), checkpoint.stop(1_000), clock.pass(5_000)]);
  });
});

test('A5/62: an approval past its deadline is found in the index by the sweep of the host that owns the session', async () => {
  const clock = new VirtualClock(1_790_000_000_000);
  const system = openInMemory({ clock });
  const log = pino({ level: 'silent' });
  const config = configSchema.parse({ tools: { approvalMinutes: 1 } });
  const model = script([['mail'], 'too late']);
  const tools = fakeTools({ name: 'mail', usual: 'ask' });
  const service = { config, log, env: {}, model, tools, newApprovalId: () => 'approval-1' };
  const checkpoint = await startCheckpoint({ ports: system.portsFor('checkpoint'), log, member: 'checkpoint' });
  const first = await startSession({ ...service, ports: system.portsFor('first'), member: 'first' });
  await clock.pass(100);
  await system.commands.publish(post('go', 'a'));
  await clock.pass(2_000);
  await Promise.all([first.stop(1_000), clock.pass(5_000)]);
  const second = await startSession({ ...service, ports: system.portsFor('second'), member: 'second' });
  const rows = (): string[] => system.events.stored().flatMap(({ events }) => events.map(rowOf));
  await clock.pass(50_000);
  expect(rows().at(-1)).toBe('approval_requested a/1 approval-1');
  expect(second.metrics()).toMatchObject({ sessions_resident: 0, turns_running: 0 });
  await clock.pass(8_000);
  expect(rows().slice(-5)).toEqual([
    'approval_resolved a/2 approval-1 expired',
    'tool_result a/2 a.1.0 expired',
    'model_step a/2 2 stop',
    'assistant_message a/2',
    'turn_completed a/2',
  ]);
  expect(second.metrics()).toMatchObject({ tool_calls_refused_total: 1 });
  await Promise.all([second.stop(1_000), checkpoint.stop(1_000), clock.pass(5_000)]);
});

describe('a graceful stop', () => {
  test('lets turns end and writes down what the next host loads at once', async () => {
    const made = rig();
    await made.take(post('[[think 300]]', 'a'));
    const drained = made.host.drain(2_000);
    await made.clock.pass(3_000);
    await drained;
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed' });
    expect(await made.ports.snapshots.get(homeKey)).toMatchObject({ status: 'idle', position: { rev: 2 } });
  });

  test('does not wait for ever for a turn that does not end', async () => {
    const made = rig();
    await made.take(post('[[think 60000]]', 'a'));
    const began = made.clock.monotonic();
    let endedAt = Number.POSITIVE_INFINITY;
    const drained = made.host.drain(1_000).then(() => {
      endedAt = made.clock.monotonic();
    });
    await made.clock.pass(5_000);
    await drained;
    expect(endedAt - began).toBeLessThan(1_100);
    expect(await made.ports.snapshots.get(homeKey)).toMatchObject({ status: 'running' });
  });
});
