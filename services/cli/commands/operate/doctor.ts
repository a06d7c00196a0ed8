import type { Command } from 'commander';
import pc from 'picocolors';
import { minimumServerVersion } from '../../../../shared/adapters/nats/client/version.ts';
import { errorMessage } from '../../../../shared/kit/errors.ts';
import { type Config, configFileOf, secretsOf } from '../../../../shared/runtime/config/load.ts';
import * as exposure from '../../../../shared/runtime/doctor/exposure.ts';
import { checked, type Finding, fail, ok } from '../../../../shared/runtime/doctor/finding.ts';
import * as system from '../../../../shared/runtime/doctor/system.ts';
import { asRunning, type CommonOptions, clientOf, configOf, sourceOf } from '../../access.ts';
import { resolveServer } from '../../broker/resolve.ts';
import * as broker from '../../doctor/broker.ts';
import * as machine from '../../doctor/machine.ts';
import { askModel } from '../../doctor/model.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { asJson, type World } from '../../terminal.ts';
import { problemsOf } from './status.ts';

const serverProgram = async (env: World['env']): Promise<Finding> => {
  const found = await resolveServer(env);
  return found === null
    ? fail('nats-server', `no version ${minimumServerVersion} or newer found`, 'run: natter nats install')
    : ok('nats-server', `${found.version}, ${found.path}`);
};

const checkBroker = async (config: Config, world: World): Promise<Finding[]> => {
  try {
    // Loaded on demand: the broker client is large.
    const { existingBroker } = await import('../../runtime/broker.ts');
    const { brokerReport } = await import('../../runtime/broker-report.ts');
    const report = await brokerReport(config, (user) => existingBroker(config, installationIn(config.dataDir), user));
    const version = broker.brokerVersion(report);
    if (version.level === 'fail') return [version];
    const found = [version, broker.jetStream(report)];
    if (report.storage === null) return found;
    found.push(broker.clockSkew(report), broker.streams(report));
    if (report.missing.length > 0) return found;
    return [
      ...found,
      ...[system.store(report), broker.logEnd(report), system.queues(report), system.followers(report), system.processes(report)],
      ...[system.answers(report), system.checkpoints(config, report), system.deadLetters(report), system.openDeliveries(report)],
      exposure.tokens(config, report.tokens, world.now()),
    ];
  } catch (error) {
    const [detail = '', ...fix] = errorMessage(error).split('; ');
    return [fail('broker', detail, fix.join('; ') || 'see the log of the broker')];
  }
};

const checkGateway = (world: World, options: CommonOptions): Promise<Finding> =>
  checked('gateway', 'start natter up', async () => {
    const client = clientOf(world, options);
    const [problem] = await problemsOf(() => client.get('/readyz'));
    if (problem !== undefined)
      return fail(
        'gateway',
        `${problem.code}: ${problem.message}`,
        problem.fix || 'start natter up, or see the log of the gateway',
      );
    // The first call needs no token; this one accepts the token of any role.
    const [refused] = await problemsOf(() => client.get('/v1/approvals', { query: { limit: 1 } }));
    if (refused === undefined) return ok('gateway', `${client.url} is ready`);
    const [detail = '', fix = 'see the log of the gateway'] = refused.message.split('; ');
    return fail('gateway', `${client.url} is ready, but refused the call: ${detail}`, fix);
  });

/** The chain of every session (F13). */
const checkChains = (world: World, options: CommonOptions): Promise<Finding> =>
  checked('chains', 'see the finding of the broker', async () => {
    const config = configOf(world, options);
    const { existingBroker } = await import('../../runtime/broker.ts');
    const { scrubNow } = await import('../../doctor/chains.ts');
    const finding = await scrubNow(config, existingBroker(config, installationIn(config.dataDir)), world);
    world.terminal.settled();
    return finding;
  });

/** All checks, in the order of the report. */
const allFindings = async (world: World, options: CommonOptions): Promise<Finding[]> => {
  const node = machine.nodeVersion(process.versions.node);
  const read = await checked('config', 'fix the file or variable it names', () => {
    configOf(world, options);
    return ok('config', 'valid, no unknown keys');
  });
  if (read.level === 'fail') return [node, read];
  const config = configOf(world, options);
  const { dataDir, nats } = config;
  const configFile = { path: configFileOf(sourceOf(world, options)).path, secrets: secretsOf(config, {}) };
  return [
    ...[
      node,
      read,
      exposure.configuredValues(config),
      exposure.directMessages(config),
      exposure.owner(config),
      exposure.bindAddress(asRunning(config)),
      machine.snapshotKey(config),
    ],
    await checked('model', 'see docs/use/models.md', () => askModel(config, world.env)),
    await checked('data', 'give this user write access', () => machine.dataDirectory(dataDir)),
    await checked('secrets', 'give this user read access', () => machine.secretFiles(dataDir, configFile)),
    ...(nats.url === undefined ? [await checked('nats-server', 'see the message', () => serverProgram(world.env))] : []),
    ...(await checkBroker(config, world)),
    await checkGateway(world, options),
  ];
};

const labels = { ok: pc.green('ok  '), warn: pc.yellow('warn'), fail: pc.red('fail') } as const;

/** `natter doctor`: checks everything Natter needs, with a fix for each problem. Exit code 1 if a check fails. */
export const doctorCommand = (program: Command, world: World): void => {
  program
    .command('doctor')
    .option('--scrub', 'also read the whole log and check the chain of every session')
    .option('--json', 'print JSON')
    .addHelpText('after', example('doctor --scrub'))
    .action(async (_: unknown, command: Command) => {
      const { json, scrub, ...options } = command.optsWithGlobals<CommonOptions & { json?: boolean; scrub?: boolean }>();
      const findings = await allFindings(world, options);
      if (scrub) findings.push(await checkChains(world, options));
      const isHealthy = findings.every(({ level }) => level !== 'fail');
      if (!isHealthy) process.exitCode = 1;
      if (json) return world.terminal.out(asJson({ ok: isHealthy, findings }, 2));
      for (const { what, level, detail, fix } of findings) {
        world.terminal.out(`${labels[level]}  ${what.padEnd(12)} ${detail}`);
        if (fix !== undefined) world.terminal.out(`${' '.repeat(19)}→ ${fix}`);
      }
    });
};
