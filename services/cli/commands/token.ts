import type { Command } from 'commander';
import pc from 'picocolors';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../access.ts';
import { asJson, oneLine, table, type World } from '../terminal.ts';
import { ago, parseTime } from '../time.ts';

/** A token, as the gateway tells of it. `token` itself is there once: when it was made or rotated. */
interface Token {
  readonly id: string;
  readonly role: string;
  readonly principal?: string;
  readonly namespace?: string;
  readonly label: string;
  readonly status: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly oldSecretUntil?: number;
  readonly token?: string;
}
interface Options extends CommonOptions {
  readonly json?: boolean;
  readonly role?: string;
  readonly principal?: string;
  readonly namespace?: string;
  readonly label?: string;
  readonly expires?: string;
  readonly overlap?: number;
}

/** `30d` is a time from now; a date is itself. */
const endOf = (text: string, now: number): number => parseTime(/^\d+[smhd]$/.test(text) ? `+${text}` : text, now);
const pathOf = (id: string, rest = ''): string => `/v1/tokens/${encodeURIComponent(id)}${rest}`;

const lines = (tokens: readonly Token[], now: number): string[] =>
  table(
    ['ID', 'ROLE', 'FOR', 'STATUS', 'MADE', 'EXPIRES', 'LABEL'],
    tokens.map(({ id, role, principal, namespace, status, createdAt, expiresAt, label }) => [
      ...[id, role, oneLine([namespace, principal].filter(Boolean).join(' ') || '-', 40), status, ago(createdAt, now)],
      expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString().slice(0, 16),
      oneLine(label, 40),
    ]),
  );

/** The secret goes to standard output alone, so that it can be piped to where it is kept. */
const tell = ({ terminal }: World, made: Token, json: boolean | undefined): void => {
  if (json) return terminal.out(asJson(made, 2));
  terminal.out(made.token ?? '');
  terminal.note(
    pc.dim(`token ${made.id} of role ${made.role}; it is shown this once. Take it back with: natter token revoke ${made.id}`),
  );
};

/** `natter token create|list|revoke|rotate`: tokens made while the system runs; the administrator's alone (docs/operate/access.md). */
export const tokenCommand = (program: Command, world: World): void => {
  const token = program.command('token').description('tokens that let others in');
  token
    .command('create')
    .description('make a token and print it, once')
    .requiredOption('--role <role>', 'owner, admin, read-only, participant, channel or approver')
    .option('--principal <who>', 'for whom it speaks: <channel>:<id>, or a name of session.identityLinks')
    .option('--namespace <channel>', 'the channel that it is limited to')
    .option('--expires <when>', 'such as 30d, 12h or 2030-01-01; default: never')
    .option('--label <text>', 'what it is for')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, role, principal, namespace, label, expires, ...common } = command.optsWithGlobals<Options>();
      const expiresAt = expires === undefined ? undefined : endOf(expires, world.now());
      const wanted = { role, principal, namespace, label, expiresAt };
      tell(world, await clientOf(world, common).post<Token>('/v1/tokens', wanted), json);
    });
  token
    .command('list')
    .description('list the tokens that were made, the newest first; those of the configuration are there')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<Options>();
      const { tokens } = await clientOf(world, common).get<{ tokens: Token[] }>('/v1/tokens');
      if (json) world.terminal.out(asJson({ tokens }, 2));
      else if (tokens.length === 0) world.terminal.note('no token was made; make one: natter token create --role read-only');
      else for (const line of lines(tokens, world.now())) world.terminal.out(line);
    });
  token
    .command('revoke')
    .argument('<id>', 'the id of the token, or the token itself')
    .description('take a token back; whoever uses it is cut off within seconds, everywhere')
    .option('--json', 'as JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<Options>();
      const revoked = await clientOf(world, common).delete<Token>(pathOf(idIn(id)));
      world.terminal.out(json ? asJson(revoked, 2) : `token ${revoked.id} is revoked`);
    });
  token
    .command('rotate')
    .argument('<id>', 'the id of the token')
    .description('make a new secret for a token and print it, once')
    .option('--overlap <minutes>', 'how long the old one stays valid', wholeNumber(0, limits.rotationOverlapMinutes), 0)
    .option('--json', 'as JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, overlap: overlapMinutes, ...common } = command.optsWithGlobals<Options>();
      tell(world, await clientOf(world, common).post<Token>(pathOf(idIn(id), '/rotate'), { overlapMinutes }), json);
    });
};

/** The id of a token, also where somebody gives all of it: its secret is not to be sent in an address. */
const idIn = (text: string): string => {
  const id = text.split('.', 1)[0] ?? '';
  if (/^[a-z0-9]{1,64}$/.test(id)) return id;
  throw new NatterError('invalid', `"${oneLine(id, 20)}" is no id of a token; natter token list has them`);
};
