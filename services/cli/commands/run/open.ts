import { type Command, Option } from 'commander';
import pc from 'picocolors';
import { type CommonOptions, clientOf, gatewayOf } from '../../access.ts';
import { example } from '../../example.ts';
import { pageLink } from '../../page/link.ts';
import { openBrowser } from '../../page/open-browser.ts';
import type { World } from '../../terminal.ts';

interface OpenOptions extends CommonOptions {
  readonly print?: true;
  readonly role?: string;
}

/** How to reach a gateway of another machine, which a browser there cannot. */
const forwarding = (url: string): string => {
  const { port } = new URL(url);
  return `from another machine: ssh -L ${port}:127.0.0.1:${port} <this machine>, then open the address there`;
};

/** `natter open`: opens the page, signed in by a one-time code (docs/use/page.md). */
export const openCommand = (program: Command, world: World): void => {
  program
    .command('open')
    .option('--print', 'print the address instead; it works once, for 60 seconds')
    .addOption(new Option('--role <role>', 'sign in with a lower role').choices(['owner', 'read-only', 'approver']))
    .addHelpText('after', example('open --role read-only'))
    .action(async (_: unknown, command: Command) => {
      const { print, role, ...common } = command.optsWithGlobals<OpenOptions>();
      const { terminal, env } = world;
      const link = await pageLink(clientOf(world, common), role);
      const isRemote = env.SSH_CONNECTION !== undefined;
      const isOpened = !print && !isRemote && (await openBrowser(link.address));
      if (isOpened)
        return terminal.note(
          `opened the page in a browser, signed in as ${link.role}; "natter open --print" prints an address instead`,
        );
      if (!print && !isRemote) terminal.note('no browser could be opened here; open this address in one:');
      terminal.out(link.address);
      terminal.note(pc.dim('it works once, within 60 seconds'));
      if (isRemote) terminal.note(pc.dim(forwarding(gatewayOf(world, common).url)));
    });
};
