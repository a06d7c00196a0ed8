import type { Command } from 'commander';
import pc from 'picocolors';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { keyFrom } from '../../../../shared/runtime/session-tools/named-session.ts';
import { atBroker, type CommonOptions } from '../../access.ts';
import type { ListedErasure } from '../../backup/erasure-list.ts';
import { isConfirmed } from '../../confirm.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { operatorOf } from '../../operator.ts';
import type { ErasureReport } from '../../runtime/erasure.ts';
import { asJson, type World } from '../../terminal.ts';
import { timeText, zoneOf } from '../../time.ts';

interface EraseOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly reason: string;
  readonly json?: boolean;
}

const report = ({ terminal }: World, { key, seq, resumed, indexed, ...erased }: ErasureReport): void => {
  const { commits, timers, commands, custody, deadLetters, memories, attachments } = erased;
  terminal.out(`${pc.bold(key)}  erased up to sequence ${seq}${resumed ? ' (an interrupted erasure is now complete)' : ''}`);
  const removed = [
    counted(commits, 'commit'),
    counted(timers, 'scheduled message'),
    counted(commands, 'processed command'),
    counted(custody, 'delivery record'),
    counted(deadLetters, 'dead letter'),
    `${memories} ${memories === 1 ? 'memory' : 'memories'}`,
    counted(attachments, 'attachment'),
  ];
  terminal.out(`removed: ${removed.join(', ')}`);
  terminal.out(
    indexed
      ? 'its snapshot and its row in the index are cleared'
      : pc.yellow('its snapshot is cleared; its row in the index will be cleared when the checkpoint service runs again'),
  );
  terminal.out(
    pc.dim(`commit ${seq} stays and records the erasure. For the disk see "Erasing a session" in docs/operate/operations.md`),
  );
};

/** `natter erase KEY`: removes everything said in a session, permanently (C9). Run it again if it was interrupted. */
export const eraseCommand = (program: Command, world: World): void => {
  program
    .command('erase')
    .argument('<key>', 'session key, as lists show it')
    .option('--yes', 'do not ask for confirmation')
    .option('--reason <text>', 'reason; it stays in the log, so do not name a person', 'asked for by an operator')
    .option('--json', 'print JSON')
    .addHelpText('after', example('erase agent:main:whatsapp:direct:+15551234567'))
    .action(async (text: string, _: unknown, command: Command) => {
      const { yes, reason, json, ...common } = command.optsWithGlobals<EraseOptions>();
      if (reason.length > 200) throw new NatterError('invalid', '--reason: use at most 200 characters');
      const config = atBroker(world, common);
      const key = keyFrom(config, text, 'KEY');
      // Loaded on demand: the broker client is large.
      const { existingBroker } = await import('../../runtime/broker.ts');
      const { eraseSession, lastCommit, withEraser } = await import('../../runtime/erasure.ts');
      const { listErasure } = await import('../../backup/erasure-list.ts');
      const installation = installationIn(config.dataDir);
      const recorded = (erasure: ListedErasure): Promise<void> => listErasure(installation, erasure);
      await withEraser(config, existingBroker(config, installation), async (ports, eraser) => {
        const { rev, at } = await lastCommit(ports, key);
        const question = `Erase ${key} permanently? It has ${rev} commits, the last one at ${timeText(at, zoneOf(world, common))}.`;
        if (!yes && !(await isConfirmed(world, question, 'erase'))) return world.terminal.note('nothing was erased');
        const erased = await eraseSession(ports, eraser, { key, actor: operatorOf(world), reason, recorded });
        if (json) return world.terminal.out(asJson(erased, 2));
        report(world, erased);
      });
    });
};
