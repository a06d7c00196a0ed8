import { type Command, InvalidArgumentError } from 'commander';
import type { DeadLetter, DeadLetterPage, DeadLetterWithMessage, NatterClient } from '../../../../shared/client/main.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { isConfirmed } from '../../confirm.ts';
import { example, words } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { showLines } from '../../pager.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago, timeText, zoneOf } from '../../time.ts';

interface DeadLettersOptions extends CommonOptions {
  readonly limit: number;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly reason: string;
}
type Resent = Pick<DeadLetterWithMessage['resend'], 'wouldRepeat' | 'why'> & { readonly duplicate: boolean };

const path = (seq: number, rest = ''): string => `/v1/dead-letters/${seq}${rest}`;
const sequence = (text: string): number => {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a number of the column SEQ in the list');
};
const read = (client: NatterClient, seq: number): Promise<DeadLetterWithMessage> => client.get(path(seq));

/** `natter dead-letters [list|show|resend|discard]`: messages that nobody could process, and what a person decides about them. */
export const deadLettersCommand = (program: Command, world: World): void => {
  const { terminal } = world;
  const deadLetters = program
    .command('dead-letters')
    .addHelpText('after', words('dead letter'))
    .addHelpText('after', example('dead-letters --limit 10'));
  listCommand(deadLetters, 'list dead letters, newest first')
    .option('--limit <count>', 'maximum number of messages', wholeNumber(1, limits.pageRows), 50)
    .option('--json', 'print JSON, each entry with its bytes')
    .addHelpText('after', words('dead letter'))
    .addHelpText('after', example('dead-letters list --limit 10'))
    .action(async (_: unknown, command: Command) => {
      const { limit, json, ...common } = command.optsWithGlobals<DeadLettersOptions>();
      const client = clientOf(world, common);
      const { deadLetters: letters } = await client.get<DeadLetterPage>('/v1/dead-letters', {
        query: { limit },
      });
      if (json) {
        const whole: DeadLetterWithMessage[] = [];
        for (const { seq } of letters) whole.push(await read(client, seq));
        terminal.out(asJson({ deadLetters: whole }, 2));
      } else if (letters.length === 0) terminal.note('no dead letters');
      else await showLines(world, linesOf(letters, world.now()));
    });

  const deciding = (name: string, description: string, line: string): Command =>
    deadLetters
      .command(name)
      .argument('<seq>', 'number of the dead letter, from the list', sequence)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', words('dead letter'))
      .addHelpText('after', example(line));

  deciding('show', 'show a dead letter with its message, and what a resend would do', 'dead-letters show 17').action(
    async (seq: number, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<DeadLettersOptions>();
      const letter = await read(clientOf(world, common), seq);
      if (json) return terminal.out(asJson(letter, 2));
      const { id, service, sessionKey, reason, subject, at, size, message, resend } = letter;
      terminal.out(
        `${seq}  given up by ${oneLine(service, 64)} at ${timeText(at, zoneOf(world, common))}  (${oneLine(id, 200)})`,
      );
      if (sessionKey !== undefined) terminal.out(`session  ${oneLine(sessionKey, 1_000)}`);
      terminal.out(`reason   ${oneLine(reason, 1_000)}`);
      terminal.out(`subject  ${oneLine(subject, 1_000)}`);
      terminal.out(`resend   ${prospectText(resend)}`);
      terminal.out(message === null ? `message  ${size} bytes that cannot be read; --json has them` : asJson(message, 2));
    },
  );
  deciding('resend', 'put the message back into its queue; the letter is removed', 'dead-letters resend 17')
    .option('--yes', 'do not ask for confirmation')
    .action(async (seq: number, _: unknown, command: Command) => {
      const { json, yes, ...common } = command.optsWithGlobals<DeadLettersOptions>();
      const client = clientOf(world, common);
      const ask = async (): Promise<boolean> => {
        const { reason, resend } = await read(client, seq);
        return isConfirmed(world, `${oneLine(reason, 200)}\n${prospectText(resend)}\nResend ${seq}?`, 'resend');
      };
      if (!yes && !(await ask())) return terminal.note('nothing was resent');
      const resent = await client.post<Resent>(path(seq, '/resend'), undefined);
      if (json) return terminal.out(asJson(resent, 2));
      const again = resent.duplicate ? 'somebody has resent it just now' : 'resent';
      terminal.out(`${seq}: ${again}${resent.wouldRepeat === false ? '' : `; ${oneLine(resent.why, 500)}`}`);
    });
  deciding('discard', 'remove a dead letter for good', 'dead-letters discard 17 --reason "spam"')
    .option('--yes', 'do not ask for confirmation')
    .requiredOption('--reason <text>', 'reason; it stays in the audit trail, so do not name a person')
    .action(async (seq: number, _: unknown, command: Command) => {
      const { json, yes, reason, ...common } = command.optsWithGlobals<DeadLettersOptions>();
      const client = clientOf(world, common);
      const ask = async (): Promise<boolean> => {
        const { service, reason: cause } = await read(client, seq);
        return isConfirmed(world, `${service}: ${oneLine(cause, 200)}\nDiscard ${seq} for good?`, 'discard');
      };
      if (!yes && !(await ask())) return terminal.note('nothing was discarded');
      const discarded = await client.delete<DeadLetter>(path(seq), { query: { reason } });
      terminal.out(json ? asJson(discarded, 2) : `${seq}: discarded`);
    });
};

const prospectText = ({ isPossible, wouldRepeat, why }: DeadLetterWithMessage['resend']): string => {
  const verdict = isPossible
    ? { true: 'a repeat', false: 'takes effect', null: 'may be a repeat' }[`${wouldRepeat}`]
    : 'not possible';
  return `${verdict}: ${oneLine(why, 500)}`;
};

const linesOf = (letters: readonly DeadLetter[], now: number): string[] =>
  table(
    ['SEQ', 'AGE', 'SERVICE', 'SESSION', 'REASON', 'SUBJECT'],
    letters.map(({ seq, at, service, sessionKey = '', reason, subject }) => [
      `${seq}`,
      ago(at, now),
      service,
      oneLine(sessionKey, limits.sessionKeyBytes),
      oneLine(reason, 100),
      oneLine(subject, 80),
    ]),
  );
