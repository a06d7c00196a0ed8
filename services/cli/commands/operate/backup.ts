import { resolve } from 'node:path';
import type { Command } from 'commander';
import { atBroker, type CommonOptions, configOf } from '../../access.ts';
import type { LogEntry, Manifest } from '../../backup/manifest.ts';
import { showBreaks, verdictOn } from '../../backup/verdict.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { asJson, type World } from '../../terminal.ts';

interface BackupOptions extends CommonOptions {
  readonly verify?: boolean;
  readonly json?: boolean;
}
/** `natter backup DIR` and `natter backup --verify DIR` (docs/operate/backup.md). */
export const backupCommand = (program: Command, world: World): void => {
  program
    .command('backup')
    .argument('<dir>', 'a folder that does not exist yet, or is empty')
    .option('--verify', 'check an existing backup instead, without a broker: its files, and the chain of every session')
    .option('--json', 'print JSON')
    .addHelpText('after', example('backup ./backup-monday'))
    .action(async (dir: string, _: unknown, command: Command) => {
      const { verify, json, ...common } = command.optsWithGlobals<BackupOptions>();
      const { manifest, log } = verify
        ? await verifyFiles(world, common, resolve(dir))
        : await backUpTo(world, common, resolve(dir));
      showBreaks(world, log);
      if (json) world.terminal.out(asJson({ dir: resolve(dir), id: manifest.id, ...log }, 2));
      else world.terminal.out(`${verify ? 'whole' : 'backed up'}: ${verdictOn(log)}`);
      if (log.breaks.length > 0) process.exitCode = 1;
    });
};

const verifyFiles = async (
  world: World,
  common: CommonOptions,
  folder: string,
): Promise<{ manifest: Manifest; log: LogEntry }> => {
  const { checkBackup } = await import('../../backup/check-backup.ts');
  return checkBackup(folder, configOf(world, common));
};

const backUpTo = async (world: World, common: CommonOptions, folder: string): Promise<{ manifest: Manifest; log: LogEntry }> => {
  const config = atBroker(world, common);
  const installation = installationIn(config.dataDir);
  const { existingBroker, withBroker } = await import('../../runtime/broker.ts');
  const { backUp } = await import('../../backup/back-up.ts');
  const { erasuresIn } = await import('../../backup/erasure-list.ts');
  const erasures = (await erasuresIn(installation)) ?? [];
  const { now, version, terminal } = world;
  const manifest = await withBroker(config, existingBroker(config, installation, 'backup'), 'natter backup', (connection) =>
    backUp({ connection, config, folder, version, erasures, now, progress: (stream) => terminal.progress(`${stream} …`) }),
  );
  return { manifest, log: manifest.log };
};
