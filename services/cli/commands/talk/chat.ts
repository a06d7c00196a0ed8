import type { Command } from 'commander';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { type CommonOptions, clientOf, configOf, mainSessionKey } from '../../access.ts';
import { example } from '../../example.ts';
import type { World } from '../../terminal.ts';

/** `natter chat`: a chat with a session of a gateway that runs already. */
export const chatCommand = (program: Command, world: World): void => {
  program
    .command('chat')
    .argument('[key]', 'session key (default: the main session)')
    .addHelpText('after', example('chat'))
    .action(async (key: string | undefined, _: unknown, command: Command) => {
      if (!world.terminal.interactive)
        throw new NatterError('invalid', 'a chat needs a terminal; elsewhere use: natter send KEY "text" --wait');
      // Loaded on demand: completions and help do not need it.
      const [{ Chat }, { knownWords }] = await Promise.all([import('../../chat/chat.ts'), import('../../chat/known-words.ts')]);
      const options = command.optsWithGlobals<CommonOptions>();
      const config = configOf(world, options);
      const known = await knownWords(world, options, 'leaves');
      await new Chat(world, clientOf(world, options), key ?? mainSessionKey(config), known).run(world.interrupted);
    });
};
