import type { Command } from 'commander';
import pc from 'picocolors';
import type { SharedLink } from '../../../../shared/client/main.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { fragmentOfLink } from '../../../../shared/kit/text/share-link.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';
import { timeText, zoneOf } from '../../time.ts';
import { expiryOf } from '../setup/token.ts';

interface ShareOptions extends CommonOptions {
  readonly expires: string;
  readonly label?: string;
  readonly json?: boolean;
}

/** `natter share` (B23): a link to one session, which is a token of role `viewer` (docs/use/page.md). */
export const shareCommand = (program: Command, world: World): void => {
  program
    .command('share')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--expires <when>', 'when the link ends, such as 30d, 12h or 2030-01-01', '7d')
    .option('--label <text>', 'note about who it is for')
    .option('--json', 'print JSON')
    .addHelpText('after', example('share agent:main:main --expires 1d'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { expires, label, json, ...common } = command.optsWithGlobals<ShareOptions>();
      const client = clientOf(world, common);
      const expiresAt = expiryOf(expires, world.now());
      const { page } = await client.get<{ page: boolean }>('/');
      if (!page)
        throw new NatterError('unsupported', 'the page, where the link would lead, is switched off; set page.enabled to true');
      const wanted = { role: 'viewer', sessionKey: key, label, expiresAt };
      const { id, token, publicUrl = client.url } = await client.post<SharedLink>('/v1/tokens', wanted);
      const link = `${publicUrl}/${fragmentOfLink(token)}`;
      if (json) return world.terminal.out(asJson({ id, link, expiresAt }, 2));
      world.terminal.out(link);
      const until = timeText(expiresAt, zoneOf(world, common));
      const note = `whoever has it can read this session until ${until}, and nothing else; take it back: natter token revoke ${id}`;
      world.terminal.note(pc.dim(note));
    });
};
