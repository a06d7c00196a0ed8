import { resolve } from 'node:path';
import type { Command } from 'commander';
import pc from 'picocolors';
import { createLog } from '../../../../shared/kit/log.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { atBroker, type CommonOptions } from '../../access.ts';
import type { LogEntry } from '../../backup/manifest.ts';
import { showBreaks, verdictOn } from '../../backup/verdict.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { operatorOf } from '../../operator.ts';
import type { BrokerAddress } from '../../runtime/broker.ts';
import { asJson, type World } from '../../terminal.ts';

interface RestoreOptions extends CommonOptions {
  readonly verify?: boolean;
  readonly erasures?: string;
  readonly json?: boolean;
}

/** `natter restore DIR` and `natter restore --verify DIR` (docs/operate/backup.md). */
export const restoreCommand = (program: Command, world: World): void => {
  program
    .command('restore')
    .argument('<dir>', 'a folder that "natter backup" has written')
    .option('--erasures <file>', 'erasures.jsonl with what was erased since (default: that of the data directory)')
    .option('--verify', 'compare the broker with the backup instead, and follow the chain of every session')
    .option('--json', 'print JSON')
    .addHelpText('after', example('restore ./backup-monday --erasures ./erasures.jsonl'))
    .action(async (dir: string, _: unknown, command: Command) => {
      const { verify, json, erasures, ...common } = command.optsWithGlobals<RestoreOptions>();
      const run = verify ? compare(world, common, resolve(dir)) : restoreFrom(world, common, resolve(dir), erasures);
      const { log, erased, problems } = await run;
      if (json) world.terminal.out(asJson({ dir: resolve(dir), problems, erased, ...log }, 2));
      else {
        for (const problem of problems) world.terminal.note(pc.red(problem));
        showBreaks(world, log);
        const again = erased > 0 ? `; ${counted(erased, 'session')} erased again` : '';
        const outcome = problems.length > 0 ? pc.red('DIFFERENT') : verify ? 'the broker has all of the backup' : 'restored';
        world.terminal.out(`${outcome}: ${verdictOn(log)}${again}`);
      }
      if (problems.length > 0) process.exitCode = 1;
    });
};

interface Outcome {
  readonly log: LogEntry;
  readonly erased: number;
  readonly problems: readonly string[];
}

const compare = async (world: World, common: CommonOptions, folder: string): Promise<Outcome> => {
  const config = atBroker(world, common);
  const { existingBroker, withBroker } = await import('../../runtime/broker.ts');
  const { checkBackup } = await import('../../backup/check-backup.ts');
  const { compareWithBackup } = await import('../../backup/compare.ts');
  const { manifest } = await checkBackup(folder, config);
  const address = existingBroker(config, installationIn(config.dataDir));
  const found = await withBroker(config, address, 'natter restore', (connection) =>
    compareWithBackup(connection, config, folder, manifest),
  );
  return { ...found, erased: 0 };
};

const restoreFrom = async (world: World, common: CommonOptions, folder: string, list?: string): Promise<Outcome> => {
  const config = atBroker(world, common);
  const installation = installationIn(config.dataDir);
  const { startBroker } = await import('../../runtime/broker.ts');
  const { checkBackup } = await import('../../backup/check-backup.ts');
  const { runRestore } = await import('../../backup/run-restore.ts');
  const { brokerFolder } = await import('../../broker/store.ts');
  const { syncFolder } = await import('../../broker/sync-folder.ts');
  const { erasuresIn, readErasures } = await import('../../backup/erasure-list.ts');
  const erasures = list === undefined ? await erasuresIn(installation) : await readErasures(list);
  if (erasures === null)
    world.terminal.note(pc.yellow('no list of erasures: what was erased after the backup comes back (--erasures)'));
  const backup = await checkBackup(folder, config, erasures ?? []);
  installation.prepare();
  const log = createLog({ level: 'warn', name: 'natter' });
  // A managed broker writes everything first and syncs once: a sync for each message would take most of the time.
  const lazy = { ...config, nats: { ...config.nats, syncInterval: '2m' } };
  let broker = await startBroker(world, lazy, installation, log);
  const settle = async (): Promise<BrokerAddress> => {
    if (!broker.managed) return broker.as('restorer');
    await broker.stop();
    await syncFolder(brokerFolder(config.dataDir));
    broker = await startBroker(world, config, installation, log);
    return broker.as('restorer');
  };
  try {
    const progress = (stream: string): void => world.terminal.progress(`${stream} …`);
    const request = { config, address: broker.as('restorer'), folder, backup, actor: operatorOf(world), progress, settle };
    return { ...(await runRestore(request)), problems: [] };
  } finally {
    await broker.stop();
  }
};
