import type { ParsedKey } from '../keys/session-key.ts';
import { sessionChannel } from '../values/types.ts';
import type { IndexRow } from './index-row.ts';

/**
 * The channel shown in lists (A10/114): a group's own, that of the last message of a direct chat, `internal` for jobs and spawned
 * runs, else `unknown`.
 */
export const channelOf = ({ kind, channel }: ParsedKey, row?: Pick<IndexRow, 'lastRoute' | 'origin'>): string => {
  const route = row?.lastRoute?.channel;
  const last = route === sessionChannel ? 'internal' : route;
  switch (kind) {
    case 'group':
    case 'channel':
      return channel ?? row?.origin.provider ?? 'unknown';
    case 'cron':
    case 'hook':
    case 'node':
    case 'schedule':
      return 'internal';
    default:
      return last ?? channel ?? row?.origin.provider ?? 'unknown';
  }
};
