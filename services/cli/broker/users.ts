import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import type { ConnectionSettings } from '../../../shared/adapters/nats/client/connection.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { type BrokerUser, brokerUsers, inboxPrefixOf } from '../../../shared/wire/grants.ts';
import { publicKeyOf } from '../../../shared/wire/nkey.ts';
import { brokerAccount, deeperThan, type Rights, rightsOf } from '../../../shared/wire/rights.ts';
import { type Subjects, subjectToken } from '../../../shared/wire/subjects.ts';
import { makeOnce } from '../make-once.ts';

/** A user of the broker, by the seed that is kept for it. Connectors are called `connector-<channel>`. */
export interface UserSeed {
  readonly name: string;
  readonly user: BrokerUser;
  /** Of a connector: its channel. */
  readonly channel?: string;
  /** Secret: whoever has it is that user. */
  readonly seed: string;
  readonly publicKey: string;
}

/** A user as nats-server's configuration has it. Without permissions it may do everything in its account. */
export interface ServerUser {
  /** For the reader of the configuration. */
  readonly name: string;
  readonly nkey?: string;
  readonly user?: string;
  readonly password?: string;
  readonly permissions?: { readonly publish: Allowed; readonly subscribe: Allowed & { readonly deny: readonly string[] } };
}
interface Allowed {
  readonly allow: readonly string[];
}
/** What shows a broker which user is connecting. */
type Credentials = Required<Pick<ConnectionSettings, 'nkeySeed' | 'inboxPrefix'>>;

const suffix = '.nk';
const connector = 'connector-';

/**
 * Makes a seed for every user that has none, and for the connectors of `channels`. Only this user can read them. Throws
 * `NatterError('invalid')` for what is not the name of a channel.
 */
export const makeUsers = (folder: string, channels: readonly string[] = []): void => {
  for (const channel of channels) {
    const problem = inboundEnvelope.shape.channel.safeParse(channel).error?.issues[0]?.message;
    if (problem !== undefined) throw new NatterError('invalid', problem, { field: 'channel' });
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = [...brokerUsers.filter((user) => user !== 'connector'), ...channels.map((channel) => connector + channel)];
  for (const name of names) makeOnce(join(folder, name + suffix), `${Buffer.from(nkeys.createUser().getSeed()).toString()}\n`);
};

/** All users with a seed in the folder, by name. Throws `NatterError('invalid')` for a file that has none. */
export const usersIn = (folder: string): readonly UserSeed[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .sort()
    .map((file) => userIn(folder, file.slice(0, -suffix.length)));

const userIn = (folder: string, name: string): UserSeed => {
  const path = join(folder, name + suffix);
  const user = brokerUsers.find((each) => each === (name.startsWith(connector) ? 'connector' : name));
  if (user === undefined) throw new NatterError('invalid', `${path}: no user of the broker has this name; remove the file`);
  try {
    const seed = readFileSync(path, 'utf8').trim();
    const publicKey = publicKeyOf(seed);
    return { name, user, seed, publicKey, ...(user === 'connector' && { channel: name.slice(connector.length) }) };
  } catch (cause) {
    const fix = 'give this process the right to read it, or make it with "natter broker config"';
    throw new NatterError('unavailable', `${path}: not the seed of a broker user: ${errorMessage(cause)}; ${fix}`, { cause });
  }
};

/** How a connection shows that it is this user. Throws `NatterError('unavailable')` when the seed cannot be read. */
export const credentialsOf = (folder: string, name: string): Credentials => credentialsFrom(userIn(folder, name));

export const credentialsFrom = ({ seed, name }: UserSeed): Credentials => ({
  nkeySeed: seed,
  inboxPrefix: inboxPrefixOf(name),
});

/** What a user may do. */
export const rightsOfUser = ({ user, channel }: Pick<UserSeed, 'user' | 'channel'>, subjects: Subjects): Rights =>
  rightsOf(user, subjects, channel === undefined ? undefined : subjectToken(channel));

/** The users for the configuration of nats-server. Public keys only: nothing in it is secret. */
export const serverUsers = (users: readonly UserSeed[], subjects: Subjects): readonly ServerUser[] =>
  users.map((each) => {
    const { publish, subscribe } = rightsOfUser(each, subjects);
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe, deny: deeperThan(subscribe) } };
    return { name: each.name, nkey: each.publicKey, permissions };
  });

/** The account with its users, as a part of a configuration file of nats-server: JSON is what that language is made of. */
export const accountConfig = (users: readonly ServerUser[]): string => {
  const entries = users.map(({ name, ...user }) => `# ${name}\n${JSON.stringify(user, null, 2)}\n`);
  return `accounts {\n  ${brokerAccount} {\n    jetstream: enabled\n    users: [\n${entries.join('')}    ]\n  }\n}\n`;
};
