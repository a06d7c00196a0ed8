import { hash } from 'node:crypto';

/** Ids of routed commands. They are derived from what the envelope says, so that a repeat has the same id on any host, at any time (I2). */

/** What an envelope's id is unique within, and the id itself. */
export interface InboundIdentity {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly id: string;
  /** The platform's chat id, byte-exact; absent if the id is unique within the account. */
  readonly conversation?: string | undefined;
}

const prefix = 'in-';
const stemLength = prefix.length + 32;

/** The command's id, and a mark that distinguishes the sessions that such commands start. */
export const routedIdOf = ({ channel, accountId, id, conversation }: InboundIdentity): { id: string; mark: string } => {
  const digest = hash('sha256', JSON.stringify([channel, accountId ?? null, id]));
  const stem = `${prefix}${digest.slice(0, 32)}`;
  if (conversation === undefined) return { id: stem, mark: digest.slice(32, 44) };
  const within = hash('sha256', JSON.stringify([digest, conversation]));
  return { id: `${stem}-${within.slice(0, 12)}`, mark: within.slice(32, 44) };
};

/** True for the id of a routed command. */
export const isRoutedId = (id: string): boolean => id.startsWith(prefix);

/** The id that an older version gave the same message, when all ids were unique within an account. */
export const formerIdOf = (id: string): string | null =>
  isRoutedId(id) && id.length > stemLength ? id.slice(0, stemLength) : null;
