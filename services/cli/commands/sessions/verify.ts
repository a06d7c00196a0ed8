import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { example } from '../../example.ts';
import { type Verified, verifyLines } from '../../stored-export.ts';
import { asJson, type World } from '../../terminal.ts';

/** `natter verify FILE`: checks an export of stored commits without a server. Exit code 1 if anything is missing or changed. */
export const verifyCommand = (program: Command, world: World): void => {
  program
    .command('verify')
    .argument('<file>', 'a file written by natter export --stored; "-" is standard input')
    .description('check that an export is complete and unchanged; needs no server')
    .option('--json', 'print JSON')
    .addHelpText('after', example('verify main.jsonl'))
    .action(async (file: string, _: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const sessions: Verified[] = [];
      for await (const session of verifyLines(
        createInterface({ input: opened(file, world), crlfDelay: Number.POSITIVE_INFINITY }),
      ))
        sessions.push(session);
      if (sessions.length === 0)
        throw new NatterError('invalid', `${file}: it has no session; write one with natter export --stored`);
      const isWhole = sessions.every(({ problem }) => problem === null);
      if (!isWhole) process.exitCode = 1;
      if (json) return world.terminal.out(asJson({ ok: isWhole, sessions }, 2));
      for (const { key, commits, rev, problem } of sessions)
        world.terminal.out(
          `${problem === null ? 'whole  ' : 'DAMAGED'}  ${key}  ${commits} commits, up to rev ${rev}${problem === null ? '' : `: ${problem}`}`,
        );
    });
};

const opened = (file: string, { input }: World): NodeJS.ReadableStream => (file === '-' ? input : createReadStream(file));
