import { NatterError } from '../../kit/errors.ts';
import type { Config } from '../config/schema.ts';
import { identitiesOf } from '../keys/identity.ts';
import { allowedOn } from './group.ts';

/** Finds risky settings in a configuration, above all several people who share one direct session (A3/31). */

type AccessConfig = Pick<Config, 'agent' | 'session' | 'channels'>;
type ChannelConfig = Config['channels'][string];

/**
 * How many people may write: those on the allow lists, with linked ids counted once (A3/29), and the owner, who is always
 * admitted and sees everything anyway.
 */
const countPeople = ({ agent, session, channels }: AccessConfig): number => {
  const identities = identitiesOf(session.identityLinks);
  const owners = new Set(agent.owners.map(identities.resolve));
  const allowed = Object.entries(channels).flatMap(([channel, rules]) =>
    rules.dmPolicy === 'disabled' ? [] : [...allowedOn(channel, rules, identities)],
  );
  return new Set(allowed.filter((person) => !owners.has(person))).size + Math.min(owners.size, 1);
};

/**
 * The risks of this configuration, each with its fix; empty if none is found. Without configured channels it is unknown who could
 * write.
 */
export const dangers = (config: AccessConfig): string[] => [...sharing(config), ...nobodies(config), ...anybodies(config)];

/** That nobody on a channel has the owner's rights, where channels are configured (D7); `null` if somebody has. */
export const ownerless = ({ agent, channels, outlets }: Pick<Config, 'agent' | 'channels' | 'outlets'>): string | null =>
  agent.owners.length > 0 || (Object.keys(channels).length === 0 && Object.keys(outlets.webhooks).length === 0)
    ? null
    : 'agent.owners is empty: nobody on a channel may use /new, /reset, /compact, /send and /pair in sessions that several people share; name yourself there as "<channel>:<id>"';

/** Ids of owners that hold on every channel, where a stranger may have or choose them. */
const anybodies = ({ agent, session: { identityLinks, dmScope, scope, strict } }: AccessConfig): string[] => [
  ...agent.owners
    .flatMap((owner) => (Object.hasOwn(identityLinks, owner) ? (identityLinks[owner] ?? []) : []))
    .filter((id) => !id.includes(':'))
    .map(
      (id) =>
        `agent.owners: whoever has the id ${JSON.stringify(id)} on any channel is an owner; write "<channel>:${id}" in session.identityLinks`,
    ),
  ...(dmScope === 'per-peer' && scope === 'per-sender' && !strict && agent.owners.length > 0
    ? [
        'session.dmScope "per-peer": whoever has an owner\'s id on another channel is in the owner\'s direct session; set it to "per-channel-peer", or session.strict to refuse them',
      ]
    : []),
];

/** Owners that no sender can match: entries without a channel that are not linked names. */
const nobodies = ({ agent, session }: AccessConfig): string[] =>
  agent.owners
    .filter((owner) => !owner.includes(':') && !Object.hasOwn(session.identityLinks, owner))
    .map(
      (owner) =>
        `agent.owners: ${JSON.stringify(owner)} matches nobody; write "<channel>:${owner}", or link the name in session.identityLinks`,
    );

const sharing = (config: AccessConfig): string[] => {
  const { session, channels } = config;
  if (session.scope === 'per-sender' && session.dmScope !== 'main') return [];
  const under = (policy: ChannelConfig['dmPolicy']): string =>
    Object.keys(channels)
      .filter((channel) => channels[channel]?.dmPolicy === policy)
      .join(', ');
  const [open, pairing, people] = [under('open'), under('pairing'), countPeople(config)];
  if (open === '' && pairing === '' && people < 2) return [];
  const paired = pairing === '' ? `${people} people may write` : `whoever is paired may write on ${pairing}`;
  const who = open === '' ? paired : `anybody may write on ${open}`;
  const scope = session.scope === 'global' ? 'session.scope "global"' : 'session.dmScope "main"';
  const fix = `set session.dmScope to "per-channel-peer"${session.scope === 'global' ? ' and session.scope to "per-sender"' : ''}`;
  return [`${who}, and with ${scope} they share one direct session and can read each other's messages; ${fix}`];
};

/** With `session.strict`, throws `invalid` if several people would share one direct session. */
export const refuseDangers = (config: AccessConfig): void => {
  const [danger] = config.session.strict ? sharing(config) : [];
  if (danger !== undefined) throw new NatterError('invalid', `session.strict: ${danger}`, { field: 'session.dmScope' });
};
