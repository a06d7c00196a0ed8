import { type Command, InvalidArgumentError } from 'commander';
import type { DeliveredPage } from '../../../../shared/client/main.ts';
import type { DeliveryTarget } from '../../../../shared/domain/values/types.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago } from '../../time.ts';

interface DeliveredOptions extends CommonOptions {
  readonly limit: number;
  readonly before?: number;
  readonly json?: boolean;
}

/** The number of a message in a list. */
export const sequence = (text: string): number => {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a number of the column SEQ in the list');
};

/** `natter deliveries delivered`: outgoing messages that have arrived. */
export const deliveredCommand = (deliveries: Command, world: World): void => {
  const { terminal } = world;
  deliveries
    .command('delivered')
    .description('list outgoing messages that have arrived, newest first, with their attempts and receipts')
    .option('--limit <count>', 'maximum number of messages', wholeNumber(1, limits.pageRows), 50)
    .option('--before <seq>', 'only messages before this number of the list', sequence)
    .option('--json', 'print JSON')
    .addHelpText('after', example('deliveries delivered --limit 10'))
    .action(async (_: unknown, command: Command) => {
      const { limit, before, json, ...common } = command.optsWithGlobals<DeliveredOptions>();
      const query = { limit, before };
      const found = await clientOf(world, common).get<DeliveredPage>('/v1/deliveries/delivered', { query });
      if (json) return terminal.out(asJson(found, 2));
      if (found.delivered.length > 0) for (const line of deliveredLines(found, world.now())) terminal.out(line);
      else terminal.note('no message that arrived is recorded here');
      if (found.next !== null) terminal.note(`natter deliveries delivered --before ${found.next} shows older ones`);
    });
};

/** Where a message goes, on one line. */
export const targetText = ({ channel, to, threadId, accountId }: Partial<DeliveryTarget>): string =>
  oneLine(
    [channel, to ?? `account ${accountId ?? ''}`, ...(threadId === undefined ? [] : ['in', threadId])].join(' ').trim(),
    80,
  );

const deliveredLines = ({ delivered }: DeliveredPage, now: number): string[] =>
  table(
    ['SEQ', 'AGE', 'ATTEMPTS', 'SESSION', 'TO', 'RECEIPT'],
    delivered.map(({ seq, at, attempt, sessionKey, target, messageIds }) => [
      ...[`${seq}`, ago(at, now), `${attempt}`, oneLine(sessionKey, limits.sessionKeyBytes), targetText(target)],
      oneLine(messageIds.join(', ') || '-', 80),
    ]),
  );
