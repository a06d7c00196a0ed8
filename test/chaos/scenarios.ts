import type { Clock } from '../../shared/kit/clock.ts';
import type { Random } from '../sim/random.ts';
import type { TestServer } from '../support/nats.ts';
import type { Driver } from './driver.ts';
import { turnsOn } from './evidence.ts';
import type { ServiceProcess } from './host-process.ts';
import type { Ledger } from './ledger.ts';
import type { ChaosSystem, Setup } from './system.ts';

/** One fault that was made. `pid` is of the process it hit; times are milliseconds since 1970. */
export interface Fault {
  readonly kind: 'host killed' | 'host paused' | 'host ended' | 'server killed' | 'server paused';
  /** What it was chosen for: `leader of NATTER_EVENTS`. */
  readonly target: string;
  readonly pid: number;
  readonly at: number;
  /** When the process went on, was started again, or was gone in order. */
  endedAt: number;
  /** Why this fault did not do what it is for; such a run does not count. */
  missed: string | null;
}

export interface Stage {
  readonly system: ChaosSystem;
  readonly clock: Clock;
  readonly random: Random;
  readonly driver: Pick<Driver, 'burst' | 'repeatOld'>;
  readonly ledger: Pick<Ledger, 'commits'>;
  readonly faults: Fault[];
}
export interface Scenario {
  readonly title: string;
  readonly setups: readonly Setup[];
  /** Makes the faults while the load goes on. When it resolves everything runs again. */
  play(stage: Stage): Promise<void>;
}

/** A lease of a member is 3 s. */
const zombieMs = { least: 9_500, most: 12_000 };

const rest = ({ clock, random }: Stage, least: number, most: number): Promise<void> => clock.sleep(random.between(least, most));

const begin = ({ faults, clock }: Stage, kind: Fault['kind'], target: string, pid: number): Fault => {
  const fault: Fault = { kind, target, pid, at: clock.now(), endedAt: 0, missed: null };
  faults.push(fault);
  return fault;
};

/** Waits, for a few seconds at most, until the host has several turns under way: what is read here may lag, and some of them end meanwhile. */
const untilMidTurn = async ({ system, clock, ledger }: Stage, { pid }: ServiceProcess): Promise<void> => {
  const { commands } = system.ports;
  const giveUpAt = clock.monotonic() + 5_000;
  while (clock.monotonic() < giveUpAt) {
    if (turnsOn({ pid, at: clock.now() }, ledger.commits, (key) => commands.partitionOf(key)).size >= 4) return;
    await clock.sleep(50);
  }
};

/** As a supervisor would: a host that cannot start while the broker elects is started again, for a minute. */
const startAgain = async ({ clock }: Stage, host: ServiceProcess): Promise<void> => {
  const giveUpAt = clock.monotonic() + 60_000;
  for (;;) {
    try {
      return await host.start();
    } catch (error) {
      if (clock.monotonic() > giveUpAt) throw error;
      await clock.sleep(250);
    }
  }
};

const killHost = async (stage: Stage, host: ServiceProcess): Promise<void> => {
  const fault = begin(stage, 'host killed', 'a session host', host.pid);
  await host.kill9();
  await rest(stage, 300, 5_000);
  await startAgain(stage, host);
  fault.endedAt = stage.clock.now();
};

/** Stops the host for a moment and reads all that it has written: what is open then stays open. Lets it go on if it is not in mid-turn. */
const isHeldInMidTurn = async ({ system, clock, ledger }: Stage, host: ServiceProcess): Promise<boolean> => {
  host.pause();
  const at = clock.now();
  const { lastSeq } = await system.ports.events.info();
  while ((ledger.commits.at(-1)?.seq ?? 0) < lastSeq) await clock.sleep(5);
  const held = turnsOn({ pid: host.pid, at }, ledger.commits, (key) => system.ports.commands.partitionOf(key)).size > 0;
  if (!held) host.resume();
  return held;
};

export const killHostInMidTurn = async (stage: Stage, host: ServiceProcess): Promise<void> => {
  const giveUpAt = stage.clock.monotonic() + 15_000;
  do await untilMidTurn(stage, host);
  while (!(await isHeldInMidTurn(stage, host)) && stage.clock.monotonic() < giveUpAt);
  await killHost(stage, host);
};

const pauseHost = async (stage: Stage, host: ServiceProcess): Promise<void> => {
  await untilMidTurn(stage, host);
  const fault = begin(stage, 'host paused', 'a session host', host.pid);
  host.pause();
  await rest(stage, zombieMs.least, zombieMs.most);
  host.resume();
  fault.endedAt = stage.clock.now();
};

const endHost = async (stage: Stage, host: ServiceProcess): Promise<void> => {
  const fault = begin(stage, 'host ended', 'a session host', host.pid);
  const { code, tookMs } = await host.stop();
  fault.endedAt = stage.clock.now();
  if (code !== 0) fault.missed = `the host ended with ${code}`;
  if (tookMs > 10_000) fault.missed = `the host took ${Math.round(tookMs)} ms to end`;
  await rest(stage, 500, 2_000);
  await startAgain(stage, host);
};

export const killServer = async (stage: Stage, node: TestServer, target: string): Promise<void> => {
  stage.driver.burst();
  await rest(stage, 1, 10);
  const fault = begin(stage, 'server killed', target, node.pid());
  await node.kill9();
  await rest(stage, 1_000, 3_000);
  await node.restart();
  await stage.system.provisionAgain();
  fault.endedAt = stage.clock.now();
};

const pauseServer = async (stage: Stage, node: TestServer, target: string): Promise<void> => {
  const fault = begin(stage, 'server paused', target, node.pid());
  await node.pause();
  await rest(stage, 3_000, 8_000);
  node.resume();
  fault.endedAt = stage.clock.now();
};

/** What has a leader of its own in a cluster: each stream that matters, and a consumer that has work. */
const leaders = ({ system, random }: Stage): [stream: string, consumer?: string][] => {
  const { commands, events, hosts } = system.streams;
  const busy = system.ports.commands.partitionOf(random.pick(['agent:main', 'agent:main:telegram', 'hook:1', 'solo-1']));
  return [[commands], [events], [hosts], [commands, `partition-${busy}`]];
};

/** Strikes each leader in turn, as the first command finds it, and waits between two until the cluster could bear the next. */
const eachLeader = async (
  stage: Stage,
  strike: (node: TestServer, target: string, turn: number) => Promise<void>,
): Promise<void> => {
  const { system } = stage;
  for (const [turn, [stream, consumer]] of leaders(stage).entries()) {
    const node = await system.leaderOf(stream, consumer);
    await strike(node, `leader of ${[stream, consumer].filter(Boolean).join('/')}`, turn);
    await system.untilCaughtUp();
    await rest(stage, 1_000, 3_000);
  }
};

export const hostOf = ({ system: { hosts } }: Stage, turn: number): ServiceProcess => {
  const host = hosts[turn % hosts.length];
  if (host === undefined) throw new RangeError('there is no host');
  return host;
};
export const onlyNode = ({ system: { nodes } }: Stage): TestServer => {
  const [node] = nodes;
  if (node === undefined) throw new RangeError('there is no server');
  return node;
};

export const scenarios: Readonly<Record<string, Scenario>> = {
  calm: {
    title: 'no fault at all, for comparison',
    setups: ['r1', 'up', 'r3'],
    play: (stage) => rest(stage, 10_000, 10_000),
  },
  'host-kill': {
    title: 'kill -9 of a session host in mid-turn, twice',
    setups: ['r1', 'up', 'r3'],
    play: async (stage) => {
      const first = stage.random.between(0, 1);
      for (const turn of [first, first + 1]) {
        await killHostInMidTurn(stage, hostOf(stage, turn));
        await rest(stage, 2_000, 5_000);
      }
    },
  },
  zombie: {
    title: 'SIGSTOP of a session host for more than three leases, then SIGCONT',
    setups: ['r1', 'up', 'r3'],
    play: (stage) => pauseHost(stage, stage.random.pick(stage.system.hosts)),
  },
  'server-kill': {
    title: 'kill -9 of the only nats-server, back after 1 to 3 s, twice',
    setups: ['r1', 'up'],
    play: async (stage) => {
      for (let turn = 0; turn < 2; turn++) {
        await killServer(stage, onlyNode(stage), 'the server');
        await rest(stage, 2_000, 4_000);
      }
    },
  },
  'server-pause': {
    title: 'SIGSTOP of the only nats-server for 3 to 8 s',
    setups: ['r1', 'up'],
    play: (stage) => pauseServer(stage, onlyNode(stage), 'the server'),
  },
  leaders: {
    title: 'kill -9 of the leader of each stream and of a busy consumer, one after another',
    setups: ['r3'],
    play: (stage) => eachLeader(stage, (node, target) => killServer(stage, node, target)),
  },
  'leaders-and-host': {
    title: 'the same, each time with kill -9 of a session host at the same moment',
    setups: ['r3'],
    play: (stage) =>
      eachLeader(stage, async (node, target, turn) => {
        const host = hostOf(stage, turn);
        await untilMidTurn(stage, host);
        await Promise.all([killServer(stage, node, target), killHost(stage, host)]);
      }),
  },
  'leader-pause': {
    title: 'SIGSTOP of the leader of each stream and of a busy consumer for 3 to 8 s',
    setups: ['r3'],
    play: (stage) => eachLeader(stage, (node, target) => pauseServer(stage, node, target)),
  },
  repeats: {
    title: 'all messages of half a minute again after two minutes, under load, while hosts are killed',
    setups: ['r1', 'up', 'r3'],
    play: async (stage) => {
      await rest(stage, 30_000, 30_000);
      await rest(stage, 123_000, 123_000);
      const [count] = await Promise.all([
        stage.driver.repeatOld(),
        ...stage.system.hosts.map(async (host, turn) => {
          await rest(stage, 1_000 + 5_000 * turn, 2_000 + 5_000 * turn);
          await killHostInMidTurn(stage, host);
        }),
      ]);
      if (count === 0) throw new Error('no message was old enough to be sent again');
    },
  },
  graceful: {
    title: 'SIGTERM of each session host under load',
    setups: ['r1', 'up', 'r3'],
    play: async (stage) => {
      for (const host of stage.system.hosts) {
        await endHost(stage, host);
        await rest(stage, 2_000, 3_000);
      }
    },
  },
  'all-nodes': {
    title: 'kill -9 of all three nats-servers at once, back after 1 to 3 s',
    setups: ['r3'],
    play: async (stage) => {
      await Promise.all(stage.system.nodes.map((node) => killServer(stage, node, 'one of all')));
      await stage.system.untilCaughtUp();
    },
  },
};
