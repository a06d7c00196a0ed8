import type { SessionRow } from '../../../shared/client/main.ts';
import { sessionChannel } from '../../../shared/domain/values/types.ts';

/** The channel by which people use a session; `null`: none, as for a chat on the page. What one session sends to another comes by none. */
export const channelIn = ({ lastRoute, origin }: Pick<SessionRow, 'lastRoute' | 'origin'>): string | null => {
  const channel = lastRoute?.channel ?? origin.provider;
  return channel === undefined || channel === sessionChannel ? null : channel;
};

/** Participants that are named; of others there is the count. */
const mostNamed = 4;

/** Who has written in a session: `ann, 1001 on telegram and 3 others`. `null`: nobody, or programs alone. */
export const participantsText = (participants: readonly string[]): string | null => {
  if (participants.length === 0) return null;
  const others = participants.length - mostNamed;
  const named = participants.slice(0, mostNamed).map((id) => id.replace(/^([^:]+):(.+)$/s, '$2 on $1'));
  if (others <= 0) return named.join(', ');
  return `${named.join(', ')} and ${others} ${others === 1 ? 'other' : 'others'}`;
};
