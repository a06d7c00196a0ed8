import type { Command } from 'commander';
import pc from 'picocolors';
import { minimumServerVersion } from '../../../shared/adapters/nats/version.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { type Config, configFileOf, secretsOf } from '../../../shared/runtime/config/load.ts';
import { type CommonOptions, clientOf, configOf, sourceOf } from '../access.ts';
import { resolveServer } from '../broker/resolve.ts';
import * as broker from '../doctor/broker.ts';
import * as door from '../doctor/door.ts';
import { type Finding, fail, looked, ok } from '../doctor/finding.ts';
import * as machine from '../doctor/machine.ts';
import { installationIn } from '../installation.ts';
import { asJson, type World } from '../terminal.ts';
import { problemsOf } from './status.ts';

const serverProgram = async (env: World['env']): Promise<Finding> => {
  const found = await resolveServer(env);
  return found === null
    ? fail('nats-server', `none is here that is ${minimumServerVersion} or newer`, 'run: natter nats install')
    : ok('nats-server', `${found.version}, ${found.path}`);
};

const examineBroker = async (config: Config, world: World): Promise<Finding[]> => {
  try {
    // Loaded only when it is needed: the client of the broker is large.
    const { existingBroker } = await import('../runtime/broker.ts');
    const { brokerReport } = await import('../runtime/examination.ts');
    const report = await brokerReport(config, existingBroker(config, installationIn(config.dataDir)));
    const version = broker.brokerVersion(report);
    if (version.level === 'fail') return [version];
    const found = [version, broker.jetStream(report)];
    if (report.storage === null) return found;
    found.push(broker.clockSkew(report), broker.streams(report));
    if (report.missing.length > 0) return found;
    return [
      ...found,
      ...[broker.logEnd(report), broker.queues(report), broker.followers(report), broker.processes(report)],
      ...[broker.lookBacks(config, report), broker.deadLetters(report), door.tokens(config, report.tokens, world.now())],
    ];
  } catch (error) {
    const [detail = '', ...fix] = errorMessage(error).split('; ');
    return [fail('broker', detail, fix.join('; ') || 'see its log')];
  }
};

const examineGateway = (world: World, options: CommonOptions): Promise<Finding> =>
  looked('gateway', 'start natter up', async () => {
    const client = clientOf(world, options);
    const [problem] = await problemsOf(() => client.get('/readyz'));
    if (problem !== undefined) return fail('gateway', problem, 'start natter up; see its log');
    // That one takes no token; this one takes that of every role.
    const [refused] = await problemsOf(() => client.get('/v1/approvals', { query: { limit: 1 } }));
    if (refused === undefined) return ok('gateway', `${client.url} is ready`);
    const [detail = '', fix = 'see its log'] = refused.split('; ');
    return fail('gateway', `${client.url} is ready, and refuses: ${detail}`, fix);
  });

/** What is looked at, in the order it is told. */
const examine = async (world: World, options: CommonOptions): Promise<Finding[]> => {
  const node = machine.nodeVersion(process.versions.node);
  const read = await looked('config', 'mend the file or variable it names', () => {
    configOf(world, options);
    return ok('config', 'can be read, and has no unknown keys');
  });
  if (read.level === 'fail') return [node, read];
  const config = configOf(world, options);
  const { dataDir, nats } = config;
  const configFile = { path: configFileOf(sourceOf(world, options)).path, secrets: secretsOf(config, {}) };
  return [
    ...[
      node,
      read,
      door.configuredValues(config),
      door.directMessages(config),
      door.bindAddress(config),
      machine.modelKeys(config, world.env),
    ],
    await looked('data', 'give this user the right to write there', () => machine.dataDirectory(dataDir)),
    await looked('secrets', 'give this user the right to read them', () => machine.secretFiles(dataDir, configFile)),
    ...(nats.url === undefined ? [await looked('nats-server', 'see the message', () => serverProgram(world.env))] : []),
    ...(await examineBroker(config, world)),
    await examineGateway(world, options),
  ];
};

const marks = { ok: pc.green('ok  '), warn: pc.yellow('warn'), fail: pc.red('fail') } as const;

/** `natter doctor`: what is needed, whether it is there, and what to do about what is not. Exit code 1 where something fails. */
export const doctorCommand = (program: Command, world: World): void => {
  program
    .command('doctor')
    .description('check everything that is needed, and say what to do about what is wrong')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...options } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const findings = await examine(world, options);
      const isWell = findings.every(({ level }) => level !== 'fail');
      if (!isWell) process.exitCode = 1;
      if (json) return world.terminal.out(asJson({ ok: isWell, findings }, 2));
      for (const { what, level, detail, fix } of findings) {
        world.terminal.out(`${marks[level]}  ${what.padEnd(12)} ${detail}`);
        if (fix !== undefined) world.terminal.out(`${' '.repeat(19)}→ ${fix}`);
      }
    });
};
