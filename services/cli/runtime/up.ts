import { closeSync, openSync } from 'node:fs';
import pc from 'picocolors';
import { destination } from 'pino';
import { createClient } from '../../../shared/client/main.ts';
import { dangers, ownerless } from '../../../shared/domain/routing/dm-safety.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import { type Config, secretsOf } from '../../../shared/runtime/config/load.ts';
import { RecentLog } from '../../../shared/runtime/recent-log.ts';
import { startTracing } from '../../../shared/runtime/telemetry/start.ts';
import { type CommonOptions, configOf, mainSessionKey, sourceOf } from '../access.ts';
import { Chat } from '../chat/chat.ts';
import { knownWords } from '../chat/known-words.ts';
import { offerModel } from '../init/offer.ts';
import { refuseUnstartable } from '../init/startable.ts';
import { gatewayToken, installationIn } from '../installation.ts';
import { pageLink } from '../page/link.ts';
import type { World } from '../terminal.ts';
import { openConfig } from './configuration.ts';
import { greeting } from './greeting.ts';
import { untilReady, watchProblems } from './health/report.ts';
import { startSystem } from './system.ts';

export interface UpOptions extends CommonOptions {
  readonly hosts: number;
  readonly port?: number;
  readonly chat: boolean;
}
const readyPatienceMs = 60_000;
const tracesMs = 1_500;

/** Starts everything, says that it is up, and runs until it is interrupted. */
export const up = async (world: World, options: UpOptions): Promise<void> => {
  const { terminal } = world;
  if (options.chat) await offerModel(world, options);
  const { config, childArguments } = settle(world, options);
  const keys = refuseUnstartable(config, world.env);
  const installation = installationIn(config.dataDir);
  installation.prepare();
  const token = gatewayToken(config, installation);
  const chatting = options.chat && terminal.interactive;
  // During a chat the log goes to a file, so that no log lines appear between the answers.
  const logFile = chatting ? openSync(installation.paths.log, 'a', 0o600) : 2;
  const recentLog = new RecentLog();
  const log = createLog({
    level: config.log.level,
    name: 'natter',
    secrets: [token, ...secretsOf(config, keys)],
    destination: destination({ fd: logFile, sync: true }),
    recent: recentLog,
  });
  const live = openConfig(world, options, { start: config, load: () => settle(world, options).config, log });
  const clock = systemClock;
  const stopping = new AbortController();
  world.interrupted.addEventListener('abort', () => stopping.abort());

  const tracing = await startTracing(world.env, 'natter', log);
  // Elsewhere the log says what happens, and nothing spins between its lines.
  if (chatting) terminal.progress('starting …');
  const { hosts } = options;
  const system = await startSystem({
    world,
    keys,
    config: live,
    installation,
    token,
    log,
    clock,
    hosts,
    childArguments,
    logFile,
    insight: { configSource: { ...sourceOf(world, options), env: keys }, recentLog },
  });
  try {
    installation.writeGateway({ url: system.gateway.url, token, pid: process.pid });
    const problems = await untilReady(system.services(), { clock, patienceMs: readyPatienceMs, signal: stopping.signal });
    // Who stops it while it starts knows.
    if (!stopping.signal.aborted) for (const problem of problems) terminal.note(pc.yellow(`not ready: ${problem}`));
    for (const danger of dangers(config)) terminal.note(pc.red(`DANGER: ${danger}`));
    const nobody = ownerless(config);
    if (nobody !== null) terminal.note(pc.yellow(`note: ${nobody}`));
    const changed = chatting ? (problems: readonly string[]) => showProblems(world, problems) : () => {};
    void watchProblems(system.services(), { clock, log, signal: stopping.signal, changed });
    const client = createClient({ url: system.gateway.url, token });
    // Only at a terminal: elsewhere it would end up in a log.
    const page = terminal.interactive ? await pageLink(client).catch(() => null) : null;
    const started = { config, url: system.gateway.url, hosts: system.hosts?.pids() ?? [], chatting, page };
    const { columns = Number.POSITIVE_INFINITY } = world.output as NodeJS.WriteStream;
    if (!stopping.signal.aborted) for (const row of greeting(world.env, started, columns)) terminal.out(row);
    if (chatting) {
      const known = await knownWords(world, options, 'stops everything');
      await new Chat(world, client, mainSessionKey(config), known).run(stopping.signal);
    } else await new Promise<void>((resolve) => aborted(stopping.signal, resolve));
  } finally {
    stopping.abort();
    live.close();
    terminal.note('stopping …');
    await system.stop();
    await tracing.stop(tracesMs);
    if (chatting) closeSync(logFile);
  }
};

/** The configuration with the options of the command line, and the arguments that give a child process the same one. */
const settle = (world: World, options: UpOptions): { config: Config; childArguments: string[] } => {
  const read = configOf(world, options);
  const config = options.port === undefined ? read : { ...read, gateway: { ...read.gateway, port: options.port } };
  const file = options.config === undefined ? [] : ['--config', options.config];
  return { config, childArguments: [...file, '--data-dir', config.dataDir] };
};

const aborted = (signal: AbortSignal, then: () => void): void => {
  if (signal.aborted) then();
  else signal.addEventListener('abort', then, { once: true });
};

const showProblems = ({ terminal }: World, problems: readonly string[]): void => {
  for (const problem of problems) terminal.note(pc.yellow(problem));
  if (problems.length === 0) terminal.note(pc.green('all problems are resolved'));
};
