import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { installationIn } from '../../../services/cli/installation.ts';
import { existingBroker, topologyFor, withBroker } from '../../../services/cli/runtime/broker.ts';
import { withPorts } from '../../../services/cli/runtime/ports.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { type Config, loadConfig } from '../../../shared/runtime/config/load.ts';
import { checkAll } from '../../sim/checkers/all.ts';
import { startCluster, type TestCluster } from '../../support/nats.ts';
import { program } from '../host-process.ts';
import { openLedger } from '../ledger.ts';
import { createDisk, type Disk, type FileSystem } from './disk.ts';
import { type Load, startLoad } from './load.ts';
import { environmentOf, type Ready, startUp, type UpOptions } from './up-process.ts';

/** One broker that `natter up` manages, or a cluster of three; all they write is on the disks that lose their power, each on its own. */
export type PowerSetup = 'r1' | 'r3';
/** After what the time until the cut is counted: the command, the first time that the system is ready, or a change of its streams. */
export type Since = 'command' | 'start' | 'change';

export interface CutOptions {
  readonly fileSystem: FileSystem;
  readonly setup: PowerSetup;
  readonly since: Since;
  readonly afterMs: number;
  readonly senders: number;
}
export interface CutReport {
  readonly options: CutOptions;
  /** Messages that got their `202` before the cut. */
  readonly acknowledged: number;
  /** Streams that a broker left out when it came back. They are made again, but it should not have come to that. */
  readonly leftOut: number;
  readonly readyMs: number;
  readonly violations: readonly string[];
}

const settleMs = 60_000;

/** Starts everything on new disks, sends messages, cuts the power, starts again, and looks at what is left. */
export const cutPower = async (options: CutOptions): Promise<CutReport> => {
  const disks = await Promise.all(Array.from({ length: options.setup === 'r3' ? 3 : 1 }, () => createDisk(options.fileSystem)));
  try {
    return await cutPowerOf(disks, options);
  } finally {
    await Promise.all(disks.map((disk) => disk.remove()));
  }
};

const cutPowerOf = async (disks: readonly Disk[], options: CutOptions): Promise<CutReport> => {
  const cluster = options.setup === 'r3' ? await startCluster({ syncInterval: 'always', folders: foldersOn(disks) }) : null;
  const installation = await install(disks, cluster);
  const nodes = cluster?.nodes ?? [];
  let up = startUp(installation.up);
  try {
    const token = options.since === 'command' ? null : (await up.ready).token;
    if (options.since === 'change') await changeConfiguration(installation);
    const load = options.since === 'command' ? null : startLoad(await up.ready, options.senders);
    await delay(options.afterMs);
    await Promise.all(disks.map((disk) => disk.cut()));
    await Promise.all([up, ...nodes].map((one) => one.kill9()));
    await load?.stop();

    await Promise.all(disks.map((disk) => disk.recover()));
    await Promise.all(nodes.map((node) => node.restart()));
    up = startUp(installation.up);
    const again = await up.ready;
    const lines = [...up.log, ...nodes.flatMap((node) => node.log())];
    const leftOut = lines.filter((line) => /checksums do not match|Missing stream (metafile|checksum)/.test(line)).length;
    const after = await oneFromEach(again, options.senders).catch((error: unknown) => {
      const [own, brokers] = [up.log.slice(-20), nodes.flatMap((node) => node.log().slice(-10))];
      throw new Error([errorMessage(error), ...own, ...brokers].join('\n      '));
    });
    const before = textsOf(load);
    const violations = [
      ...(await violationsIn(installation.config, [...before, ...after])),
      ...(token === null || again.token === token ? [] : ['the access token of the installation has changed']),
      // Before it was ready for the first time it has promised nothing.
      ...(token === null || leftOut === 0 ? [] : [`${leftOut} streams were left out: their descriptions were not on the disk`]),
    ];
    return { options, acknowledged: before.length, leftOut, readyMs: again.readyMs, violations };
  } finally {
    await up.kill9();
    await cluster?.stop();
  }
};

const textsOf = (load: Load | null): string[] => [...(load?.acknowledged.values() ?? [])].flat();

/** It must not only say that it is ready: something from each sender is accepted within a minute. */
const oneFromEach = async (again: Ready, senders: number): Promise<string[]> => {
  const load = startLoad(again, senders);
  const giveUpAt = performance.now() + settleMs;
  const silent = (): string[] => [...load.acknowledged].flatMap(([key, { length }]) => (length === 0 ? [key] : []));
  while (silent().length > 0 && performance.now() < giveUpAt) await delay(100);
  const left = silent();
  await load.stop();
  if (left.length > 0) {
    const refusals = left.map((key) => `${key}: ${load.refused.get(key) ?? 'no answer'}`);
    throw new Error(`it says that it is ready, and does not accept a message within a minute from ${refusals.join('\n      ')}`);
  }
  return textsOf(load);
};

const foldersOn = (disks: readonly Disk[]): string[] => disks.map(({ folder }) => join(folder, 'nats'));

interface Installed {
  readonly config: Config;
  readonly up: UpOptions;
}

const install = async ([disk]: readonly Disk[], cluster: TestCluster | null): Promise<Installed> => {
  if (disk === undefined) throw new RangeError('there is no disk');
  const dataDir = join(disk.folder, 'natter');
  await mkdir(dataDir);
  const replicas = cluster === null ? 1 : 3;
  await writeFile(join(dataDir, 'natter.json'), JSON.stringify({ nats: { replicas } }), { flush: true });
  const up = { dataDir, ...(cluster !== null && { servers: cluster.url }) };
  return { up, config: loadConfig({ env: environmentOf(up), home: dataDir }) };
};

/** Lets the disk have all there is, then gives every stream another setting, which `natter nats provision` takes back. */
const changeConfiguration = async ({ config, up }: Installed): Promise<void> => {
  await promisify(execFile)('sync');
  await withBroker(config, existingBroker(config, installationIn(config.dataDir), 'provisioner'), 'chaos', async (connection) => {
    const manager = await jetstreamManager(connection);
    for (const { name } of topologyFor(config).streams) await manager.streams.update(name, { max_msg_size: 700_000 });
  });
  await promisify(execFile)(process.execPath, [program(), 'nats', 'provision'], {
    env: environmentOf(up),
  });
};

/** All that is wrong with the log after everything accepted has ended, or after a minute. */
const violationsIn = (config: Config, acknowledged: readonly string[]): Promise<string[]> =>
  withPorts(config, existingBroker(config, installationIn(config.dataDir)), async ({ events }) => {
    const ledger = openLedger(events);
    const giveUpAt = performance.now() + settleMs;
    let wrong = ['nothing was read'];
    while (wrong.length > 0 && performance.now() < giveUpAt) {
      await delay(200);
      wrong = [...countsWrong(ledger.commits, acknowledged), ...ledger.openTurns().map((turn) => `turn ${turn} has not ended`)];
    }
    await ledger.close();
    const nothing = {
      sent: [],
      told: [],
      effects: [],
      modelCalls: [],
      snapshots: [],
      loads: [],
      writes: new Map(),
      damages: [],
      rollbacks: [],
      losses: [],
      residents: [],
      index: null,
      unfinished: 0,
    };
    return [...wrong, ...checkAll({ ...nothing, commits: ledger.commits })];
  });

/** Each acknowledged message is in the log once. */
const countsWrong = (commits: readonly RecordedCommit[], acknowledged: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const event of commits.flatMap(({ events }) => events))
    if (event.type === 'user_message') counts.set(event.message.text, (counts.get(event.message.text) ?? 0) + 1);
  return acknowledged
    .filter((text) => counts.get(text) !== 1)
    .map((text) => `"${text}" was acknowledged and is there ${counts.get(text) ?? 0} times`);
};
