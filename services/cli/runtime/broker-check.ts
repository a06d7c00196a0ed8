import { setImmediate as turn } from 'node:timers/promises';
import { headers, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { errorMessage } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { type Probes, probesFor } from '../../../shared/wire/probes.ts';
import { isAllowed, type Rights } from '../../../shared/wire/rights.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { credentialsFrom, rightsOfUser, type UserSeed } from '../broker/users.ts';
import { topologyFor, withBroker } from './broker.ts';

/** A right that a broker grants and must not, or refuses and must not. */
interface Difference {
  readonly operation: keyof Rights;
  readonly subject: string;
  readonly granted: boolean;
}

/** What is wrong with a user's rights on the broker, one line for each subject; empty: they are as they should be. */
export const checkUser = async (config: Config, servers: string, user: UserSeed): Promise<readonly string[]> => {
  const subjects = subjectsUnder(config.prefix);
  const { tls } = config.nats;
  const address = { servers, ...(tls && { tls }), ...credentialsFrom(user) };
  try {
    return await withBroker(config, address, 'natter broker check', async (connection) => {
      const probes = probesFor(subjects, topologyFor(config));
      const found = await differencesOn(connection, probes, rightsOfUser(user, subjects));
      return found.map(
        ({ operation, subject, granted }) => `${granted ? 'may, but must not' : 'may not, but must'} ${operation} ${subject}`,
      );
    });
  } catch (error) {
    return [errorMessage(error)];
  }
};

/**
 * Tries out every probe and compares what the broker grants with the rights that the user should have. Nothing is stored, removed
 * or handled by anybody: a stream refuses the messages because they are for another one, the API because they need a server that
 * does not exist, and no service can read them. Each refusal is a line in the broker's log.
 */
const differencesOn = async (connection: NatsConnection, probes: Probes, rights: Rights): Promise<Difference[]> => {
  const refused = await refusedOn(connection, probes);
  return (['publish', 'subscribe'] as const).flatMap((operation) =>
    probes[operation]
      .map((subject) => ({ operation, subject, granted: !refused[operation].has(subject) }))
      .filter(({ subject, granted }) => granted !== isAllowed(rights[operation], subject)),
  );
};

/** The probes that the broker refuses. */
export const refusedOn = async (connection: NatsConnection, probes: Probes): Promise<Record<keyof Rights, Set<string>>> => {
  const refused = { publish: new Set<string>(), subscribe: new Set<string>() };
  const statuses = connection.status();
  const listening = (async () => {
    for await (const status of statuses) {
      if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue;
      const { operation, subject } = status.error;
      refused[operation === 'publish' ? 'publish' : 'subscribe'].add(subject);
    }
  })();
  const harmless = headers();
  for (const [name, value] of harmlessHeaders) harmless.set(name, value);
  for (const subject of probes.publish) connection.publish(subject, 'probe', { headers: harmless });
  const subscriptions = probes.subscribe.map((subject) => connection.subscribe(subject, { callback: () => {} }));
  await connection.flush();
  // The broker's refusals came before its answer to the flush, but are still on their way to the loop above.
  await turn();
  for (const subscription of subscriptions) subscription.unsubscribe();
  Reflect.get(statuses, 'stop')?.call(statuses);
  await listening;
  return refused;
};

const harmlessHeaders = [
  ['Nats-Expected-Stream', 'natter-probe'],
  ['Nats-Required-Api-Level', '999999'],
  ['KV-Operation', 'DEL'],
] as const;
