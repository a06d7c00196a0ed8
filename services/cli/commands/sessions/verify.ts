import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { errorMessage, NatterError } from '../../../../shared/kit/errors.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { example, words } from '../../example.ts';
import { type Verified, verifyLines } from '../../stored-export.ts';
import { asJson, type World } from '../../terminal.ts';

/** `natter verify FILE`: checks an export of stored commits without a server. Exit code 1 if anything is missing or changed. */
export const verifyCommand = (program: Command, world: World): void => {
  program
    .command('verify')
    .argument('<file>', 'a file written by natter export --stored; "-" is standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', words('commit', 'rev'))
    .addHelpText('after', example('verify main.jsonl'))
    .action(async (file: string, _: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const sessions: Verified[] = [];
      for await (const session of verifyLines(linesOf(file, world))) sessions.push(session);
      if (sessions.every(({ key }) => key === '')) {
        const advice = 'write one that can be checked with: natter export --stored --out FILE';
        throw new NatterError('invalid', `${file}: no session begins in it, so it is a transcript, or was cut; ${advice}`);
      }
      const isWhole = sessions.every(({ problem }) => problem === null);
      if (!isWhole) process.exitCode = 1;
      if (json) return world.terminal.out(asJson({ ok: isWhole, sessions }, 2));
      for (const { key, commits, rev, problem } of sessions)
        world.terminal.out(
          `${problem === null ? 'whole  ' : 'DAMAGED'}  ${key}  ${counted(commits, 'commit')}, up to rev ${rev}${problem === null ? '' : `: ${problem}`}`,
        );
    });
};

/** Throws `NatterError('invalid')` where the file cannot be read. */
async function* linesOf(file: string, { input }: World): AsyncGenerator<string> {
  const opened = file === '-' ? input : createReadStream(file);
  try {
    yield* createInterface({ input: opened, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR')
      throw new NatterError('invalid', `${file} is a folder; name a file that "natter export --stored --out FILE" wrote`);
    throw new NatterError('invalid', `cannot read ${file}: ${errorMessage(error)}`);
  }
}
