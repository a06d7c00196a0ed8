import type { Command } from 'commander';
import type { ChannelSender, Pairings } from '../../../../shared/client/main.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago } from '../../time.ts';

interface PairingOptions extends CommonOptions {
  readonly json?: boolean;
}

const senderOf = ({ channel, senderId, name }: ChannelSender): string =>
  oneLine(`${channel}:${senderId}${name === undefined ? '' : ` (${name})`}`, 120);

/** `natter pairing list|approve|deny|revoke`: strangers who ask to be let in, and what the owner decides (docs/operate/who-may.md). */
export const pairingCommand = (program: Command, world: World): void => {
  const { terminal } = world;
  const pairing = program.command('pairing').addHelpText('after', example('pairing list'));
  const finished = (command: Command, line: string): Command =>
    command.option('--json', 'print JSON').addHelpText('after', example(line));

  finished(listCommand(pairing, 'list strangers who wait with a code, and senders who were approved'), 'pairing list').action(
    async (_: unknown, given: Command) => {
      const { json, ...common } = given.optsWithGlobals<PairingOptions>();
      const pairings = await clientOf(world, common).get<Pairings>('/v1/pairing');
      if (json) return terminal.out(asJson(pairings, 2));
      const { requests, paired } = pairings;
      if (requests.length + paired.length === 0) return terminal.note('nobody waits, and nobody was approved');
      const now = world.now();
      const rows = [
        ...requests.map((one) => [one.code, ago(one.requestedAt, now), senderOf(one), 'waits']),
        ...paired.map((one) => ['', ago(one.pairedAt, now), senderOf(one), `approved by ${oneLine(one.by, 80)}`]),
      ];
      for (const line of table(['CODE', 'AGE', 'SENDER', 'STATE'], rows)) terminal.out(line);
    },
  );

  const deciding = (name: string, what: 'code' | 'senderId', description: string, done: string, line: string): void => {
    finished(pairing.command(name).description(description), line)
      .argument('<channel>', 'name of the channel')
      .argument(`<${what === 'code' ? 'code' : 'sender'}>`, what === 'code' ? 'code of the stranger' : 'id of the sender there')
      .action(async (channel: string, value: string, _: unknown, given: Command) => {
        const { json, ...common } = given.optsWithGlobals<PairingOptions>();
        const sender = await clientOf(world, common).post<ChannelSender>(`/v1/pairing/${name}`, { channel, [what]: value });
        terminal.out(json ? asJson(sender, 2) : `${senderOf(sender)}: ${done}`);
      });
  };
  deciding('approve', 'code', 'allow the stranger with this code to write', 'approved', 'pairing approve telegram 7KQ2M9XA');
  deciding('deny', 'code', 'refuse the stranger with this code', 'denied', 'pairing deny telegram 7KQ2M9XA');
  deciding('revoke', 'senderId', 'take back the approval of a sender', 'revoked', 'pairing revoke telegram 4711');
};
