import type { Command } from 'commander';
import pc from 'picocolors';
import { type SessionKey, sessionKeyProblem } from '../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { atBroker, type CommonOptions } from '../access.ts';
import { isConfirmed } from '../confirm.ts';
import { installationIn } from '../installation.ts';
import type { ErasureReport } from '../runtime/erasure.ts';
import { asJson, type World } from '../terminal.ts';

interface EraseOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly reason: string;
  readonly json?: boolean;
}

const checkedKey = (text: string): SessionKey => {
  const problem = sessionKeyProblem(text);
  if (problem !== null) throw new NatterError('invalid', `session key ${problem}`);
  return text as SessionKey;
};

const report = ({ terminal }: World, { key, seq, resumed, indexed, ...erased }: ErasureReport): void => {
  const { commits, timers, commands, custody, deadLetters, memories } = erased;
  terminal.out(`${pc.bold(key)}  erased up to sequence ${seq}${resumed ? ' (an erasure begun before is finished)' : ''}`);
  terminal.out(
    `removed: ${commits} commits, ${timers} scheduled messages, ${commands} done commands, ${custody} delivery records, ${deadLetters} dead letters, ${memories} memories`,
  );
  terminal.out(
    indexed
      ? 'its snapshot and its row in the index are blank'
      : pc.yellow('its snapshot is blank; its row in the index will be when the checkpoint service is back'),
  );
  terminal.out(
    pc.dim(`what stays: that it was erased, commit ${seq}. About the disk see "Erasing a session" in docs/operate/operations.md`),
  );
};

/** `natter erase KEY`: removes all that was said in a session, for good (C9). To be run again when it was interrupted. */
export const eraseCommand = (program: Command, world: World): void => {
  program
    .command('erase')
    .argument('<key>', 'the session, its whole key')
    .description('remove all that was said in a session, for good; that it was erased stays in the log')
    .option('--yes', 'do not ask')
    .option('--reason <text>', 'why; stays in the log, so name nobody', 'asked for by an operator')
    .option('--json', 'as JSON')
    .action(async (text: string, _: unknown, command: Command) => {
      const { yes, reason, json, ...common } = command.optsWithGlobals<EraseOptions>();
      const key = checkedKey(text);
      if (reason.length > 200) throw new NatterError('invalid', '--reason: use at most 200 characters');
      const config = atBroker(world, common);
      // Loaded only when it is needed: the client of the broker is large.
      const { existingBroker } = await import('../runtime/broker.ts');
      const { eraseSession, lastCommit, withEraser } = await import('../runtime/erasure.ts');
      await withEraser(config, existingBroker(config, installationIn(config.dataDir)), async (ports, eraser) => {
        const { rev, at } = await lastCommit(ports, key);
        const question = `Erase ${key} for good? It has ${rev} commits, the last one of ${new Date(at).toISOString()}.`;
        if (!yes && !(await isConfirmed(world, question, 'erase'))) return world.terminal.note('nothing was erased');
        const actor = `operator:${world.env.USER ?? world.env.USERNAME ?? 'unknown'}`;
        const erased = await eraseSession(ports, eraser, { key, actor, reason });
        if (json) return world.terminal.out(asJson(erased, 2));
        report(world, erased);
      });
    });
};
