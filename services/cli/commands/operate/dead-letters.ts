import type { Command } from 'commander';
import { limits } from '../../../../shared/kit/limits.ts';
import type { DeadLetter } from '../../../../shared/ports/dead-letters.ts';
import { atBroker, type CommonOptions, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago } from '../../time.ts';

interface DeadLettersOptions extends CommonOptions {
  readonly limit: number;
  readonly json?: boolean;
}

/** `natter dead-letters`: messages that could not be processed, newest first. Only `--json` shows their content, as base64. */
export const deadLettersCommand = (program: Command, world: World): void => {
  program
    .command('dead-letters')
    .description('list messages that could not be processed, newest first; needs the broker')
    .option('--limit <count>', 'maximum number of messages', wholeNumber(1, limits.pageRows), 50)
    .option('--json', 'print every entry with its bytes as JSON')
    .addHelpText('after', example('dead-letters --limit 10'))
    .action(async (_: unknown, command: Command) => {
      const { limit, json, ...common } = command.optsWithGlobals<DeadLettersOptions>();
      const config = atBroker(world, common);
      // Loaded on demand: the broker client is large.
      const { existingBroker } = await import('../../runtime/broker.ts');
      const { withPorts } = await import('../../runtime/ports.ts');
      const letters = await withPorts(config, existingBroker(config, installationIn(config.dataDir)), ({ deadLetters }) =>
        deadLetters.list(limit),
      );
      if (json) world.terminal.out(asJson({ deadLetters: letters.map(inText) }, 2));
      else if (letters.length === 0) world.terminal.note('no dead letters');
      else for (const line of linesOf(letters, world.now())) world.terminal.out(line);
    });
};

const inText = ({ bytes, ...letter }: DeadLetter) => ({ ...letter, bytes: Buffer.from(bytes).toString('base64') });

const linesOf = (letters: readonly DeadLetter[], now: number): string[] =>
  table(
    ['AGE', 'SERVICE', 'REASON', 'SUBJECT'],
    letters.map(({ at, service, reason, subject }) => [ago(at, now), service, oneLine(reason, 100), oneLine(subject, 80)]),
  );
