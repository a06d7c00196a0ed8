import type { Command } from 'commander';
import pc from 'picocolors';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago, parseTime, timeText, zoneOf } from '../../time.ts';

/** A token, as the gateway returns it. `token`, the secret, is only there when it was created or rotated. */
interface Token {
  readonly id: string;
  readonly role: string;
  readonly principal?: string;
  readonly namespace?: string;
  readonly sessionKey?: string;
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

/** The value of `--expires`: `30d` is a span from now, a date is that date. */
export const expiryOf = (text: string, now: number): number =>
  parseTime('--expires', /^\d+[smhd]$/.test(text) ? `+${text}` : text, now);
const pathOf = (id: string, rest = ''): string => `/v1/tokens/${encodeURIComponent(id)}${rest}`;

const lines = (tokens: readonly Token[], now: number, zone: string): string[] =>
  table(
    ['ID', 'ROLE', 'FOR', 'STATUS', 'CREATED', 'EXPIRES', 'LABEL'],
    tokens.map(({ id, role, principal, namespace, sessionKey, status, createdAt, expiresAt, label }) => [
      ...[
        id,
        role,
        oneLine([sessionKey, namespace, principal].filter(Boolean).join(' ') || '-', 40),
        status,
        ago(createdAt, now),
      ],
      expiresAt === undefined ? 'never' : timeText(expiresAt, zone),
      oneLine(label, 40),
    ]),
  );

/** Only the secret goes to standard output, so that it can be piped. */
const showSecret = ({ terminal }: World, made: Token, json: boolean | undefined): void => {
  if (json) return terminal.out(asJson(made, 2));
  terminal.out(made.token ?? '');
  terminal.note(
    pc.dim(`token ${made.id}, role ${made.role}; it is not shown again. Revoke it with: natter token revoke ${made.id}`),
  );
};

/** `natter token create|list|revoke|rotate`: access tokens; only for the administrator (docs/operate/access.md). */
export const tokenCommand = (program: Command, world: World): void => {
  const token = program.command('token').addHelpText('after', example('token list'));
  token
    .command('create')
    .description('create a token and print it once')
    .requiredOption('--role <role>', 'owner, admin, read-only, participant, channel or approver')
    .option('--principal <who>', 'who it acts for: <channel>:<id>, or a name in session.identityLinks')
    .option('--namespace <channel>', 'limit it to this channel')
    .option('--expires <when>', 'when it expires, such as 30d, 12h or 2030-01-01 (default: never)')
    .option('--label <text>', 'note about its use')
    .option('--json', 'print JSON')
    .addHelpText('after', example('token create --role read-only --expires 30d --label dashboard'))
    .action(async (_: unknown, command: Command) => {
      const { json, role, principal, namespace, label, expires, ...common } = command.optsWithGlobals<Options>();
      const expiresAt = expires === undefined ? undefined : expiryOf(expires, world.now());
      const wanted = { role, principal, namespace, label, expiresAt };
      showSecret(world, await clientOf(world, common).post<Token>('/v1/tokens', wanted), json);
    });
  listCommand(token, 'list created tokens, newest first; tokens in the configuration file are not listed')
    .option('--json', 'print JSON')
    .addHelpText('after', example('token list'))
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<Options>();
      const { tokens } = await clientOf(world, common).get<{ tokens: Token[] }>('/v1/tokens');
      if (json) world.terminal.out(asJson({ tokens }, 2));
      else if (tokens.length === 0) world.terminal.note('no tokens; create one: natter token create --role read-only');
      else for (const line of lines(tokens, world.now(), zoneOf(world, common))) world.terminal.out(line);
    });
  token
    .command('revoke')
    .argument('<id>', 'id of the token, or the token itself')
    .description('revoke a token; its connections end within seconds, on every gateway')
    .option('--json', 'print JSON')
    .addHelpText('after', example('token revoke ID'))
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<Options>();
      const revoked = await clientOf(world, common).delete<Token>(pathOf(idIn(id)));
      world.terminal.out(json ? asJson(revoked, 2) : `token ${revoked.id} is revoked`);
    });
  token
    .command('rotate')
    .argument('<id>', 'id of the token')
    .description('create a new secret for a token and print it once')
    .option('--overlap <minutes>', 'how long the old secret stays valid', wholeNumber(0, limits.rotationOverlapMinutes), 0)
    .option('--json', 'print JSON')
    .addHelpText('after', example('token rotate ID --overlap 60'))
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, overlap: overlapMinutes, ...common } = command.optsWithGlobals<Options>();
      showSecret(world, await clientOf(world, common).post<Token>(pathOf(idIn(id), '/rotate'), { overlapMinutes }), json);
    });
};

/** The id of a token, also from a whole token: its secret must not be sent in an address. */
const idIn = (text: string): string => {
  const id = text.split('.', 1)[0] ?? '';
  if (/^[a-z0-9]{1,64}$/.test(id)) return id;
  throw new NatterError('invalid', `"${oneLine(id, 20)}" is not a token id; see natter token list`);
};
