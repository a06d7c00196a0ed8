import type { Command } from 'commander';
import type { Delivery, DeliveryPage, DeliveryWithText, WaitingDelivery } from '../../../../shared/client/main.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { isConfirmed } from '../../confirm.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago, timeText, zoneOf } from '../../time.ts';
import { deliveredCommand, sequence, targetText } from './delivered.ts';

interface DeliveriesOptions extends CommonOptions {
  readonly limit: number;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly account?: string;
}
const path = (seq: number, rest = ''): string => `/v1/deliveries/${seq}${rest}`;
/** `natter deliveries [list|delivered|show|repeat|leave|resume]`: outgoing messages that may not have arrived, wait or have arrived, and what a person decides (D12). */
export const deliveriesCommand = (program: Command, world: World): void => {
  const { terminal } = world;
  const deliveries = program.command('deliveries').addHelpText('after', example('deliveries --limit 10'));
  listCommand(deliveries, 'list outgoing messages that wait or may not have arrived')
    .option('--limit <count>', 'maximum number of messages', wholeNumber(1, limits.pageRows), 50)
    .option('--json', 'print JSON')
    .addHelpText('after', example('deliveries list --limit 10'))
    .action(async (_: unknown, command: Command) => {
      const { limit, json, ...common } = command.optsWithGlobals<DeliveriesOptions>();
      const found = await clientOf(world, common).get<DeliveryPage>('/v1/deliveries', { query: { limit } });
      if (json) return terminal.out(asJson(found, 2));
      if (found.waiting.length + found.deliveries.length === 0)
        return terminal.note('no outgoing message waits or may not have arrived');
      for (const line of linesOf(found, world.now())) terminal.out(line);
    });

  deliveredCommand(deliveries, world);
  const deciding = (name: string, description: string): Command =>
    deliveries
      .command(name)
      .argument('<seq>', 'number of the message, from the list', sequence)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', example(`deliveries ${name} 18`));

  deciding('show', 'show a message with the text that was not sent').action(async (seq: number, _: unknown, command: Command) => {
    const { json, ...common } = command.optsWithGlobals<DeliveriesOptions>();
    const found = await clientOf(world, common).get<DeliveryWithText>(path(seq));
    if (json) return terminal.out(asJson(found, 2));
    const { outboundId, sessionKey, target, detail, at, text, repeat } = found;
    terminal.out(`${seq}  ${stateText(found)} at ${timeText(at, zoneOf(world, common))}  (${oneLine(outboundId, 128)})`);
    terminal.out(`session  ${oneLine(sessionKey, 512)}`);
    terminal.out(`to       ${targetText(target)}`);
    terminal.out(`detail   ${oneLine(detail, 1_000)}`);
    terminal.out(`repeat   ${repeat.isPossible ? '' : 'not possible: '}${oneLine(repeat.why, 500)}`);
    terminal.out(asJson({ text }, 2));
  });
  deciding('repeat', 'send a message, or the rest of its parts, again; the receiver may get it twice')
    .option('--yes', 'do not ask for confirmation')
    .action(async (seq: number, _: unknown, command: Command) => {
      const { json, yes, ...common } = command.optsWithGlobals<DeliveriesOptions>();
      const client = clientOf(world, common);
      const ask = async (): Promise<boolean> => {
        const found = await client.get<DeliveryWithText>(path(seq));
        const question = `To ${targetText(found.target)}: ${oneLine(found.text, 200)}\n${oneLine(found.repeat.why, 500)}\nRepeat ${seq}?`;
        return isConfirmed(world, question, 'repeat');
      };
      if (!yes && !(await ask())) return terminal.note('nothing was sent');
      const repeated = await client.post<Delivery & { warning: string }>(path(seq, '/repeat'), undefined);
      terminal.out(json ? asJson(repeated, 2) : `${seq}: is sent again; ${repeated.warning}`);
    });
  deciding('leave', 'leave a message as it is, and remove it from the list').action(
    async (seq: number, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<DeliveriesOptions>();
      const left = await clientOf(world, common).post<Delivery>(path(seq, '/leave'), undefined);
      terminal.out(json ? asJson(left, 2) : `${seq}: left as it is`);
    },
  );
  deliveries
    .command('resume')
    .argument('<channel>', 'channel whose parked accounts are tried again at once')
    .option('--account <id>', 'only this account')
    .option('--json', 'print JSON')
    .description('try parked accounts again, once a token is renewed or a right granted')
    .addHelpText('after', example('deliveries resume telegram --account work'))
    .action(async (channel: string, _: unknown, command: Command) => {
      const { json, account: accountId, ...common } = command.optsWithGlobals<DeliveriesOptions>();
      const resumed = await clientOf(world, common).post<{ accounts: WaitingDelivery[] }>('/v1/deliveries/resume', {
        channel,
        accountId,
      });
      if (json) return terminal.out(asJson(resumed, 2));
      for (const account of resumed.accounts) terminal.out(`${targetText(account)}: tried again now`);
    });
};

const stateText = ({ state, parts }: Delivery): string => (parts ? `${state}, ${parts.sent} of ${parts.of} parts sent` : state);

const linesOf = ({ waiting, deliveries }: DeliveryPage, now: number): string[] =>
  table(
    ['SEQ', 'AGE', 'STATE', 'SESSION', 'TO', 'DETAIL'],
    [
      ...waiting.map(({ state, detail, until, sessionKey = '-', ...where }) => [
        ...[
          '-',
          until <= now ? 'now' : `in ${Math.ceil((until - now) / 60_000)} min`,
          state,
          oneLine(sessionKey, limits.sessionKeyBytes),
        ],
        ...[targetText(where), oneLine(detail, 80)],
      ]),
      ...deliveries.map((delivery) => [
        ...[`${delivery.seq}`, ago(delivery.at, now), stateText(delivery), oneLine(delivery.sessionKey, limits.sessionKeyBytes)],
        ...[targetText(delivery.target), oneLine(delivery.detail, 80)],
      ]),
    ],
  );
