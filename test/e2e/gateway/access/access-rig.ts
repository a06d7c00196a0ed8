import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { startGateway } from '../../../../services/gateway/main.ts';
import { type Config, configSchema } from '../../../../shared/domain/config/schema.ts';
import { identitiesOf } from '../../../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../../shared/domain/session/commands.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { type Current, fixed } from '../../../../shared/runtime/config/reload.ts';
import { startMiniHost } from '../../../support/mini-host.ts';
import { afterwards, type Call, callerOf, openBroker, openStream, ready, type Stream, token } from '../setup.ts';

/** Who calls in these tests. `bob` has two ids and a name; `eve` has written nowhere. */
const tokens = {
  second: { role: 'owner' },
  ann: { role: 'participant', principal: 'telegram:1' },
  bob: { role: 'participant', principal: 'bob' },
  eve: { role: 'participant', principal: 'telegram:9' },
  telegram: { role: 'channel', namespace: 'telegram' },
  discord: { role: 'channel', namespace: 'discord' },
  telegramGroups: { role: 'channel', namespace: 'telegram:group' },
  annAtTelegram: { role: 'channel', namespace: 'telegram', principal: 'telegram:1' },
  admin: { role: 'admin' },
  reader: { role: 'read-only' },
  approver: { role: 'approver' },
  approverAtTelegram: { role: 'approver', namespace: 'telegram' },
  approverOfGroups: { role: 'approver', namespace: 'telegram:group' },
} as const;
/** Who came by a link to a session, which is no part of the configuration: to Ann's, and to hers that is gone. */
export const links = {
  viewer: 'agent:main:telegram:all:dm:1',
  viewerOfGone: 'agent:main:telegram:group:gone-all',
} as const;
const isLink = (name: string): name is keyof typeof links => name in links;
export type Name = keyof typeof tokens | keyof typeof links | 'owner';
export const names = ['owner', ...Object.keys(tokens), ...Object.keys(links)] as readonly Name[];

const idOfLink = (name: string): string => name.toLowerCase().padEnd(12, 'x');
export const secretOf = (name: Name): string => {
  if (isLink(name)) return `${idOfLink(name)}.natter_${name.padEnd(43, 'x')}`;
  return name === 'owner' ? token : `token-of-${name}`;
};
/** Links are made to sessions that are there; these are there as soon as somebody asks about them. */
const makeLinks = async ({ tokens: issued }: Ports): Promise<void> => {
  for (const [name, sessionKey] of Object.entries(links)) {
    const secrets = [{ sha256: digestOf(secretOf(name as Name)) }];
    const facts = { label: '', createdAt: 1, createdBy: 'test', secrets };
    await issued.add({ v: 1, id: idOfLink(name), role: 'viewer', sessionKey, deletedSeq: 0, ...facts });
  }
};
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** With these tokens and links; `more` is for the other parts of the configuration. */
export const configOf = (session: object = {}, more: object = {}): Config =>
  configSchema.parse({
    ...more,
    gateway: {
      port: 0,
      tokens: Object.fromEntries(
        Object.entries(tokens).map(([name, grant]) => [name, { ...grant, sha256: digestOf(secretOf(name as Name)) }]),
      ),
    },
    session: { dmScope: 'per-account-channel-peer', identityLinks: { bob: ['telegram:2', 'discord:2'] }, ...session },
  });

export interface GatewayRig {
  readonly url: string;
  readonly ports: Ports;
  readonly hostPorts: Ports;
  readonly as: Readonly<Record<Name, Call>>;
  readonly host: Awaited<ReturnType<typeof startMiniHost>>;
  stream(name: Name, path: string, headers?: Record<string, string>): Promise<Stream>;
  /** Records a message of these people (by id), as the router would, and resolves once it is in the log. */
  said(key: string, people: readonly string[], messageId?: string): Promise<void>;
  /** Has the session host do something. */
  done(key: string, data: SessionCommand): Promise<void>;
  /** The last run that was made so. */
  lastRun(): string;
}

/**
 * A gateway with these tokens, and a session host behind it. `index: false`: the projection never catches up. `watched` is put around the
 * gateway's ports.
 */
export const openGateway = async (
  options: { index?: boolean; session?: object; current?: Current<Config>; watched?: (ports: Ports) => Ports } = {},
): Promise<GatewayRig> => {
  const memory = openBroker();
  const config = configOf(options.session);
  const hostPorts = memory.portsFor('host');
  const host = await startMiniHost(hostPorts, options);
  afterwards(() => host.close());
  const { watched = (same: Ports) => same } = options;
  const ports = watched(memory.portsFor('gateway'));
  await makeLinks(hostPorts);
  const gateway = await startGateway({
    config: options.current ?? fixed(config),
    ports,
    log: pino({ level: 'silent' }),
    token,
    version: '0',
  });
  afterwards(() => gateway.stop(1_000));
  const as = Object.fromEntries(names.map((name) => [name, callerOf(gateway.url, secretOf(name))])) as Record<Name, Call>;
  await ready(as.owner);

  const identities = identitiesOf(config.session.identityLinks);
  let commands = 0;
  const lastRun = () => `command-${commands}`;
  const done = async (key: string, data: SessionCommand): Promise<void> => {
    commands += 1;
    const id = lastRun();
    const answer = hostPorts.answers.wait(id, 5_000);
    const envelope = { id, key: key as SessionKey, at: Date.now(), correlationId: id, causationId: id, actor: 'test', data };
    await hostPorts.commands.publish({ ...envelope, answerTo: hostPorts.answers.address });
    if ((await answer)?.outcome !== 'accepted') throw new Error(`${data.type} was not accepted`);
  };
  const said = async (key: string, people: readonly string[], messageId = `m${commands}`): Promise<void> => {
    for (const person of people) {
      const [channel = '', id = ''] = person.split(':');
      const sender = { id, role: 'participant', principal: identities.principalOf(channel, id) } as const;
      const message = { messageId: `${messageId}-${person}`, text: `words of ${person}`, sender };
      await done(key, { type: 'append_message', sessionId: 's', message });
    }
  };
  const stream = (name: Name, path: string, headers: Record<string, string> = {}) =>
    openStream(gateway.url, path, { authorization: `Bearer ${secretOf(name)}`, ...headers });
  return { url: gateway.url, ports, hostPorts, as, host, stream, said, done, lastRun };
};

/** An answer as the other side sees it, but for what is the call's own. */
export const bytesOf = ({ status, text, headers }: Awaited<ReturnType<Call>>) => {
  // OpenAI's interface tells which session and run it was asked for.
  const { 'x-request-id': requestId, 'x-natter-session': _, 'x-natter-run': __, date: ___, ...others } = headers;
  return JSON.stringify({ status, text: text.replaceAll(String(requestId), '<request id>'), headers: others });
};
