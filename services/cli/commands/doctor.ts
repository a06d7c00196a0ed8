import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import pc from 'picocolors';
import { resolveServer } from '../../../shared/adapters/nats/server/resolve.ts';
import { minimumServerVersion } from '../../../shared/adapters/nats/server/version.ts';
import type { Config } from '../../../shared/config/load.ts';
import { messageOf } from '../../../shared/kit/errors.ts';
import { dangers } from '../../../shared/policy/dm-safety.ts';
import { type CommonOptions, clientOf, configOf } from '../access.ts';
import { installationIn } from '../installation.ts';
import type { BrokerReport } from '../runtime/examination.ts';
import { asJson, type World } from '../terminal.ts';
import { problemsOf } from './status.ts';

/** One line of the doctor's report. `mend` says what to do about a problem. */
interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly mend?: string;
}
const leastFreeBytes = 1024 ** 3;

const well = (what: string, detail: string): Finding => ({ what, ok: true, detail });
const ill = (what: string, detail: string, mend: string): Finding => ({ what, ok: false, detail, mend });

/** Turns what an examination throws into a finding. */
const finding = async (what: string, mend: string, examine: () => Promise<Finding> | Finding): Promise<Finding> => {
  try {
    return await examine();
  } catch (error) {
    return ill(what, messageOf(error), mend);
  }
};

const examineNode = (): Finding => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? well('node', process.versions.node) : ill('node', process.versions.node, 'install Node 20.19 or newer');
};

const examineDataDir = (dataDir: string): Finding => {
  if (!existsSync(dataDir)) return ill('data', `${dataDir} does not exist yet`, 'start natter up once, or set NATTER_DATA_DIR');
  accessSync(dataDir, constants.W_OK);
  const { bavail, bsize } = statfsSync(dataDir);
  const free = `${((Number(bavail) * Number(bsize)) / 1024 ** 3).toFixed(1)} GB free`;
  return Number(bavail) * Number(bsize) < leastFreeBytes
    ? ill('disk', `${dataDir}: ${free}`, 'make room: a full disk stops every write')
    : well('disk', `${dataDir}: ${free}`);
};

/** Files with secrets in them that others may read. */
const examineSecrets = (dataDir: string): Finding => {
  const files = ['natter.json', 'gateway.json', 'broker.json'].map((name) => join(dataDir, name)).filter(existsSync);
  const open = process.platform === 'win32' ? [] : files.filter((file) => (statSync(file).mode & 0o077) !== 0);
  return open.length === 0
    ? well('secrets', 'only you can read them')
    : ill('secrets', `others can read ${open.join(', ')}`, `chmod 600 ${open.join(' ')}`);
};

/** Whether several people would share one direct session (A3/31). */
const examineDirectMessages = (config: Config): Finding => {
  const [danger] = dangers(config);
  if (danger === undefined) return well('privacy', 'nobody is known who would share a direct session with somebody else');
  const [what = danger, mend = ''] = danger.split('; ');
  return ill('privacy', what, mend);
};

const examineServer = async (env: World['env']): Promise<Finding> => {
  const found = await resolveServer(env);
  return found === null
    ? ill('nats-server', `none is here that is ${minimumServerVersion} or newer`, 'run: natter nats install')
    : well('nats-server', `${found.version}, ${found.path}`);
};

const streamFindings = (report: BrokerReport): Finding[] => {
  const { missing, restored, drift, lastSeq, cursors } = report;
  if (missing.length > 0)
    return [
      ill(
        'streams',
        `missing: ${missing.join(', ')}`,
        'run: natter nats provision; if they were there before, first find out who removed them',
      ),
    ];
  const streams =
    restored.length > 0
      ? ill('streams', `these were gone and are there again: ${restored.slice(0, 5).join(', ')}`, 'find out who removed them')
      : drift.length > 0
        ? ill(
            'streams',
            `${drift.length} settings differ: ${drift.slice(0, 3).join('; ')}`,
            'run: natter nats provision; or use the prefix and partitions they were made with',
          )
        : well('streams', 'all are there, as they should be');
  const ahead = cursors.filter(({ seq }) => seq > lastSeq);
  const regressed =
    ahead.length === 0
      ? well('log', `${lastSeq} commits were stored, none is missing that was read before`)
      : ill(
          'log',
          `the log ends at ${lastSeq}, but ${ahead.map(({ name, seq }) => `${name} has seen ${seq}`).join(', ')}`,
          'the log lost its end: stop writing, restore the store from a backup (docs/operations.md)',
        );
  const places = cursors.map(({ name, seq }) => `${name} at ${seq} of ${lastSeq}`).join(', ');
  return [streams, regressed, well('cursors', places)];
};

const examineBrokerFindings = async (world: World, options: CommonOptions): Promise<Finding[]> => {
  const config = configOf(world, options);
  try {
    const { existingBroker } = await import('../runtime/broker.ts');
    const { examineBroker } = await import('../runtime/examination.ts');
    const address = existingBroker(config, installationIn(config.dataDir));
    const report = await examineBroker(config, address);
    return [well('broker', `nats-server ${report.version} answers`), ...streamFindings(report)];
  } catch (error) {
    return [ill('broker', messageOf(error), 'start natter up, or check NATS_URL and its token')];
  }
};

const examine = async (world: World, options: CommonOptions): Promise<Finding[]> => {
  const config = await finding('config', 'mend the file or variable it names', () => {
    configOf(world, options);
    return well('config', 'can be read');
  });
  if (!config.ok) return [examineNode(), config];
  const inForce = configOf(world, options);
  const { dataDir, nats } = inForce;
  return [
    examineNode(),
    config,
    examineDirectMessages(inForce),
    await finding('data', 'give this user the right to write there', () => examineDataDir(dataDir)),
    await finding('secrets', 'give this user the right to read them', () => examineSecrets(dataDir)),
    ...(nats.url === undefined ? [await finding('nats-server', 'see the message', () => examineServer(world.env))] : []),
    ...(await examineBrokerFindings(world, options)),
    await finding('gateway', 'start natter up', async () => {
      const client = clientOf(world, options);
      const [problem] = await problemsOf(() => client.get('/readyz'));
      return problem === undefined
        ? well('gateway', `${client.url} is ready`)
        : ill('gateway', problem, 'start natter up; see its log');
    }),
  ];
};

/** `natter doctor`: what is needed and whether it is there. Exit code 1 on any problem. */
export const doctorCommand = (program: Command, world: World): void => {
  program
    .command('doctor')
    .description('check everything that is needed, and say what to do about what is wrong')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...options } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const findings = await examine(world, options);
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
      if (json) return world.terminal.out(asJson({ ok: findings.every(({ ok }) => ok), findings }, 2));
      for (const { what, ok, detail, mend } of findings) {
        world.terminal.out(`${ok ? pc.green('ok     ') : pc.red('problem')}  ${what.padEnd(12)} ${detail}`);
        if (mend !== undefined) world.terminal.out(`${' '.repeat(22)}→ ${mend}`);
      }
    });
};
