import type { Command } from 'commander';
import type { EventType } from '../../../../shared/client/main.ts';
import { gapText } from '../../../../shared/domain/session/chain.ts';
import { keyFrom } from '../../../../shared/runtime/session-tools/named-session.ts';
import { type CommonOptions, clientOf, configOf, wholeNumber } from '../../access.ts';
import { eventLine } from '../../event-line.ts';
import { example, words } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';
import { waitingNotes } from '../../text/waiting-notes.ts';
import { zoneOf } from '../../time.ts';

interface TailOptions extends CommonOptions {
  readonly key?: string;
  readonly type?: EventType[];
  readonly from?: number;
  readonly json?: boolean;
}

/** `natter tail`: the events of all sessions or of one, as they are recorded. After losing the gateway it resumes where it was. */
export const tailCommand = (program: Command, world: World): void => {
  program
    .command('tail')
    .option('--key <prefix>', 'only sessions whose key begins with these segments')
    .option('--type <types...>', 'only these event types, such as assistant_message')
    .option('--from <seq>', 'start at this sequence of the log instead of now', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', words('sequence'))
    .addHelpText('after', example('tail --key agent:main:main --from 1'))
    .action(async (_: unknown, command: Command) => {
      const { key, type, from, json, ...common } = command.optsWithGlobals<TailOptions>();
      const events = clientOf(world, common).events({
        keyPrefix: key === undefined || /^agent(:|$)/.test(key) ? key : keyFrom(configOf(world, common), key, '--key'),
        types: type,
        after: from === undefined ? undefined : Math.max(0, from - 1),
        signal: world.interrupted,
        ...waitingNotes((line) => world.terminal.note(line)),
      });
      for await (const event of events) {
        if (event.type === 'damage') world.terminal.note(`${event.key}: ${gapText(event)}; see "natter repair ${event.key}"`);
        if (event.type === 'delta' || event.type === 'gap' || event.type === 'damage') continue;
        world.terminal.out(json ? asJson(event) : eventLine(event, zoneOf(world, common)));
      }
    });
};
