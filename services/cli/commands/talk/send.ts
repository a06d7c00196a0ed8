import type { Command } from 'commander';
import { uuidv7 } from 'uuidv7';
import { NatterApiError, type NatterClient } from '../../../../shared/client/main.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { attachedFiles } from '../../attached-files.ts';
import { example } from '../../example.ts';
import { showRun } from '../../show-run.ts';
import type { World } from '../../terminal.ts';

interface SendOptions extends CommonOptions {
  readonly wait?: number | true;
  readonly at?: string;
  readonly json?: boolean;
  readonly new?: boolean;
  readonly attach?: readonly string[];
}

const defaultWaitSeconds = 60;
/** How long a message is sent again, with the same id, while the gateway is unavailable. */
const patienceMs = 10_000;
/** How often it is looked whether the answer waits for a person, ms. */
const approvalMs = 2_000;

const inQuotes = '(put the text in quotes: natter send main "hello there")\n';

const standardInput = async (): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8').trimEnd();
};

const withAnother = (file: string, files: readonly string[] = []): string[] => [...files, file];

/** Whether the session has been used. Trouble with the gateway is told by the call that matters. */
const exists = async (client: NatterClient, key: string): Promise<boolean> => {
  try {
    await client.sessions.get(key);
    return true;
  } catch (error) {
    return !(error instanceof NatterApiError && error.status === 404);
  }
};

const awaitsApproval = async (client: NatterClient, key: string): Promise<boolean> =>
  (await client.sessions.get(key).catch(() => null))?.status === 'awaiting_approval';

/** Says once, while an answer is waited for, that it waits for a person. Resolves, when that is over, with whether it was said. */
const tellOfApproval = async (world: World, client: NatterClient, key: string, signal: AbortSignal): Promise<boolean> => {
  while (!signal.aborted) {
    await systemClock.sleep(approvalMs, signal);
    if (signal.aborted || !(await awaitsApproval(client, key))) continue;
    world.terminal.note(`${key} waits until a tool call is approved or denied: natter approvals`);
    return true;
  }
  return false;
};

/** `natter send`: one message to one session, and with `--wait` its answer (A10/118–121). Exit code 1 if the run failed or is not done. */
export const sendCommand = (program: Command, world: World): void => {
  program
    .command('send')
    .argument('<key>', 'session key, such as agent:main:main')
    .argument('<text>', 'the message; - reads it from standard input')
    .option(
      '--wait [seconds]',
      `wait for the answer (default: ${defaultWaitSeconds} seconds, at most ${limits.waitSeconds})`,
      wholeNumber(1, limits.waitSeconds),
    )
    .option('--at <time>', 'send it later: at an ISO time, or after a span such as +10m')
    .option('--attach <file>', 'attach a file: an image, a sound, a document or a text; repeatable', withAnother)
    .option('--new', 'print no note when the message begins a new session')
    .option('--json', 'print JSON')
    .configureOutput({ outputError: (text, write) => write(`${text}${/^error: too many arguments/.test(text) ? inQuotes : ''}`) })
    .addHelpText('after', example('send agent:main:main "hello" --wait'))
    .action(async (key: string, text: string, _: unknown, command: Command) => {
      const { wait, at, json = false, new: isExpected = json, attach = [], ...common } = command.optsWithGlobals<SendOptions>();
      if (wait !== undefined && at !== undefined)
        throw new NatterError('invalid', '--wait and --at exclude each other; use one of them');
      const seconds = wait === true ? defaultWaitSeconds : wait;
      const messageId = uuidv7();
      const message = {
        text: text === '-' ? await standardInput() : text,
        messageId,
        ...(at !== undefined && { sendAt: (await import('../../time.ts')).laterTime('--at', at, world.now()) }),
        ...(attach.length > 0 && { attachments: await attachedFiles(attach) }),
      };
      // Every attempt has the same id, so the message takes effect once.
      const given = { idempotencyKey: messageId, patienceMs, wait: seconds };
      const client = clientOf(world, common);
      const isNew = !isExpected && !(await exists(client, key));
      const waiting = new AbortController();
      const telling = wait === undefined || json ? false : tellOfApproval(world, client, key, waiting.signal);
      const run = await client.sessions.post(key, message, given).finally(() => waiting.abort());
      if (isNew) world.terminal.note(`${key} is a new session (--new sends without this hint)`);
      await showRun(world, key, run, json);
      if (run.status === 'scheduled' && !json) world.terminal.note(`cancel it with: natter scheduled cancel ${run.runId}`);
      if (run.status === 'timeout' && !json && !(await telling) && (await awaitsApproval(client, key)))
        world.terminal.note(`${key} waits until a tool call is approved or denied: natter approvals`);
    });
};
