import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startSession } from '../../../../services/session/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { placementOf } from '../../../../shared/adapters/streams/rendezvous.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post } from '../rig.ts';
import { rowsOf, script } from '../script.ts';

const { standby, owner } = placementOf(['host-1', 'host-2'], 0);

/** A tool runs for `tookMs` on one host; meanwhile another one joins, to which the session then belongs. */
const whileToolRuns = async (tookMs: number, leave: boolean) => {
  const clock = new VirtualClock(1_700_000_000_000);
  const system = openInMemory({ clock, partitions: 1 });
  const model = script([['pay'], 'paid']);
  const pay = async () => {
    await clock.sleep(tookMs);
    return { outcome: 'ok', text: 'paid' } as const;
  };
  const tools = fakeTools({ name: 'pay', idempotent: false, run: pay });
  const start = (member: string) =>
    startSession({
      ...{
        config: configSchema.parse({ memory: { enabled: false } }),
        ports: system.portsFor(member),
        env: {},
        member,
        model,
        tools,
      },
      log: pino({ level: 'silent' }),
    });
  const joined = start(standby ?? '');
  await clock.pass(1_000);
  const one = await joined;
  await system.portsFor('test').commands.publish(post('pay it', 'm'));
  await clock.pass(1_000);
  expect(tools.runs).toHaveLength(1);
  const joining = start(owner ?? '');
  await clock.pass(100);
  if (leave) void one.stop(8_000);
  await clock.pass(60_000);
  const other = await joining;
  // The message wakes a session whose turn was cut off.
  await system.portsFor('test').commands.publish(post('and now?', 'n'));
  await clock.pass(1_000);
  const commits = system.events.stored().filter(({ key }) => key === homeKey);
  const rows = rowsOf(commits.flatMap(({ events }) => events));
  const writers = [...new Set(commits.map(({ host }) => host))];
  return { rows, writers, owned: other.metrics().partitions_owned, runs: tools.runs.length };
};

test.each([
  ['joins', false],
  ['takes over from one that stops', true],
])('a call that may not run twice is finished before the session goes to a host that %s (F27, I6)', async (_, leave) => {
  const { rows, writers, owned, runs } = await whileToolRuns(5_000, leave);
  expect(rows.join('\n')).not.toMatch(/resumed|approval/);
  expect(rows.at(-1)).toMatch(/turn_completed n/);
  expect({ owned, runs }).toEqual({ owned: 1, runs: 1 });
  // Each commit names the host that wrote it.
  expect(writers).toEqual([standby, owner]);
});

test('a call that takes too long is cut off, and a person is asked whether to run it again', async () => {
  const { rows, owned, runs } = await whileToolRuns(40_000, false);
  expect(rows.join('\n')).toMatch(/turn_resumed[\s\S]*approval_requested/);
  expect({ owned, runs }).toEqual({ owned: 1, runs: 1 });
});
