import { client, problemOf } from '../base/signed-in.ts';
import type { PastSource } from '../past/past.ts';

/** The past of a session as its gateway has it. */
export const gatewayPast = (key: string): PastSource => ({
  isLive: true,
  commits: (after, signal) => client.sessions.export(key, { after, signal }),
  async *recorded(after, signal) {
    for await (const item of client.events({ key, after, signal })) if ('rev' in item) yield item.seq;
  },
  problemOf,
});
