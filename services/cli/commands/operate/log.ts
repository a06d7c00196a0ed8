import type { Command } from 'commander';
import pc from 'picocolors';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { atBroker, type CommonOptions } from '../../access.ts';
import { isConfirmed } from '../../confirm.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { operatorOf } from '../../operator.ts';
import type { LogLoss } from '../../runtime/log-loss.ts';
import type { QueueLoss } from '../../runtime/queue-loss.ts';
import { asJson, type World } from '../../terminal.ts';

interface AcceptOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly reason?: string;
  readonly json?: boolean;
}

/** Sessions that are named; the count is of all. */
const namedSessions = 10;

const linesOf = ({ problems, lastSeq, keptThrough, reached, sessions }: LogLoss): string[] => [
  ...problems.map((problem) => `${pc.red('problem')}  ${problem}`),
  `the log ends at ${lastSeq}, is as it was seen up to ${keptThrough}, and had reached ${reached}`,
  `lost     ${keptThrough + 1} to ${reached}`,
  `sessions ${sessions.length} with a state that is lost${sessions.length === 0 ? '' : `: ${sessions.slice(0, namedSessions).join(', ')}`}${sessions.length > namedSessions ? ', …' : ''}`,
];

const linesOfQueue = ({ problem, stream, lastSeq, reached }: QueueLoss): string[] => [
  `${pc.red('problem')}  ${problem}`,
  `lost     the places ${lastSeq + 1} to ${reached} of ${stream}: whatever of it was not done yet`,
];

const advice =
  'restart every process that ran when the log was lost (natter status names them); those that were started since go on by themselves';

/** `natter log accept`: lets work go on although the log, or a queue, has lost its end (I13). */
export const logCommand = (program: Command, world: World): void => {
  const log = program
    .command('log')
    .addHelpText('after', example('log accept --reason "the disk is gone, and there is no copy"'));

  log
    .command('accept')
    .description('show what the event log and the queues have lost, and with --reason accept that it is lost for good')
    .option('--reason <text>', 'why; it stays in the audit trail. Without it nothing is changed')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print JSON')
    .addHelpText('after', example('log accept --reason "the disk is gone, and there is no copy"'))
    .action(async (_: unknown, command: Command) => {
      const { yes, reason, json, ...common } = command.optsWithGlobals<AcceptOptions>();
      if (reason !== undefined && (reason.trim() === '' || reason.length > 200))
        throw new NatterError('invalid', '--reason: say why in 1 to 200 characters; the audit trail keeps it');
      const config = atBroker(world, common);
      // Loaded on demand: the broker client is large.
      const { existingBroker } = await import('../../runtime/broker.ts');
      const { acceptLoss, findLoss } = await import('../../runtime/log-loss.ts');
      const { acceptQueueLoss, findQueueLosses } = await import('../../runtime/queue-loss.ts');
      const { withLog } = await import('../../runtime/with-log.ts');
      await withLog(config, existingBroker(config, installationIn(config.dataDir)), async (resources) => {
        const [loss, queues] = await Promise.all([findLoss(resources), findQueueLosses(resources)]);
        if (loss === null && queues.length === 0)
          return world.terminal.note('log and queues have everything that was seen of them: there is nothing to accept');
        const lines = [...(loss === null ? [] : linesOf(loss)), ...queues.flatMap(linesOfQueue)];
        if (!json) for (const line of lines) world.terminal.out(line);
        if (reason === undefined) {
          if (json) world.terminal.out(asJson({ ...loss, queues }, 2));
          process.exitCode = 1;
          return world.terminal.note('nothing was changed; if no copy is left, accept the loss with --reason "why"');
        }
        if (!yes && !(await isConfirmed(world, 'Is this lost for good?', 'accept')))
          return world.terminal.note('nothing was changed');
        const acceptance = { actor: operatorOf(world), reason };
        for (const queue of queues) await acceptQueueLoss(resources, queue, acceptance);
        const givenUpThrough = loss && (await acceptLoss(resources, loss, acceptance));
        if (json) return world.terminal.out(asJson({ ...loss, ...(loss && { givenUpThrough }), queues }, 2));
        if (queues.length > 0) world.terminal.out(`accepted; ${queues.map(({ stream }) => stream).join(', ')} goes on by itself`);
        if (loss === null) return;
        world.terminal.out(`accepted; the next commit gets a sequence after ${givenUpThrough}, so that none is used twice`);
        world.terminal.out(pc.yellow(advice));
      });
    });
};
