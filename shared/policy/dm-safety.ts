import type { Config } from '../config/schema.ts';
import { NatterError } from '../kit/errors.ts';

/** Whether several people would share one direct session (A3/31): the one default that is not safe for everybody. */

type Places = Pick<Config, 'session' | 'channels'>;

/** Everybody whom the allow lists let in, one name a person (A3/29). Ids are those of their channel, with or without its name before them. */
const allowedPeople = ({ session, channels }: Places): ReadonlySet<string> => {
  const names = new Map(Object.entries(session.identityLinks).flatMap(([name, ids]) => ids.map((id) => [id, name] as const)));
  const people = Object.entries(channels).flatMap(([channel, { allowFrom }]) =>
    allowFrom.map((id) => (id.startsWith(`${channel}:`) ? id : `${channel}:${id}`)),
  );
  return new Set(people.map((id) => names.get(id) ?? id));
};

/**
 * What is dangerous about this configuration, each with its mend; empty: nothing that is known. Where no channel is configured, nobody is
 * known who could write.
 */
export const dangers = ({ session, channels }: Places): string[] => {
  if (session.scope === 'per-sender' && session.dmScope !== 'main') return [];
  const open = Object.keys(channels).filter((channel) => channels[channel]?.dmPolicy === 'open');
  const people = allowedPeople({ session, channels });
  if (open.length === 0 && people.size < 2) return [];
  const who = open.length > 0 ? `anybody may write on ${open.join(', ')}` : `${people.size} people may write`;
  const scope = session.scope === 'global' ? 'session.scope "global"' : 'session.dmScope "main"';
  const mend = `set session.dmScope to "per-channel-peer"${session.scope === 'global' ? ' and session.scope to "per-sender"' : ''}`;
  return [`${who}, and with ${scope} they share one direct session and can read each other's messages; ${mend}`];
};

/** Throws `NatterError('invalid')` for a dangerous configuration that says it must not be (`session.strict`). */
export const refuseDangers = (config: Places): void => {
  const [danger] = config.session.strict ? dangers(config) : [];
  if (danger !== undefined) throw new NatterError('invalid', `session.strict: ${danger}`, { field: 'session.dmScope' });
};
