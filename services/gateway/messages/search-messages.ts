import { seesAll } from '../../../shared/domain/access/access.ts';
import { keyContextOf } from '../../../shared/domain/keys/legacy-key.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { listedKey, shortKey } from '../../../shared/domain/keys/shown-key.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { MemoryScopes } from '../../../shared/ports/memory-store.ts';
import type { Call } from '../operation/operation.ts';
import type { FoundMessage } from '../search/message-search.ts';

export interface MessageQuery {
  readonly query: string;
  readonly limit: number;
}

const excerptCharacters = 280;
/** What is shown in front of the first word that was found. */
const leadCharacters = 80;

/** The part of a text around the first of the words that is in it. */
const excerptOf = (text: string, query: string): string => {
  if (text.length <= excerptCharacters) return text;
  const lower = text.toLowerCase();
  const places = query
    .toLowerCase()
    .split(/\s+/)
    .map((word) => (word === '' ? -1 : lower.indexOf(word)));
  const first = Math.min(...places.filter((place) => place >= 0), text.length);
  const start = first === text.length ? 0 : Math.max(0, first - leadCharacters);
  const excerpt = text.slice(start, start + excerptCharacters).toWellFormed();
  return `${start > 0 ? '…' : ''}${excerpt}${start + excerptCharacters < text.length ? '…' : ''}`;
};

/** The sessions that the caller may see (A8/89), by the index, which may be late; of very many the newest. */
const scopesOf = ({ context: { sessions, access }, caller: { principal } }: Call): MemoryScopes => {
  if (seesAll(principal)) return 'all';
  const { rows } = sessions.list({
    ...{ limit: limits.pageRows, status: 'all', withGlobal: true },
    reach: access.reach(principal),
  });
  return rows.map(({ key }) => key);
};

/** The messages that have all these words, in their text or their sender's name, and that the caller may see, the best match first, of equal ones the newest (B19, I8). */
export const searchMessages = async (call: Call, { query, limit }: MessageQuery) => {
  const { access, search, config } = call.context;
  const { found, since, complete } = await search.search({ scopes: scopesOf(call), query, limit });
  // As the log is now: the index and the scopes may be late.
  const admissions = new Map<SessionKey, Promise<number>>();
  const admitted = ({ scope }: FoundMessage): Promise<number> => {
    const asked =
      admissions.get(scope) ??
      access.read(call.caller.principal, scope).then(
        ({ after }) => after,
        () => Number.POSITIVE_INFINITY,
      );
    admissions.set(scope, asked);
    return asked;
  };
  const seen = await Promise.all(found.map(async (message) => message.source.seq > (await admitted(message))));
  const messages = found
    .filter((_, place) => seen[place])
    .map(({ id, scope, source: { seq }, at, role, from, text }) => ({
      ...{ key: listedKey(scope, keyContextOf(config)), shownKey: shortKey(scope, keyContextOf(config)) },
      ...{ id: id.replace('-', '.'), seq, at, role },
      ...(from !== undefined && { from }),
      excerpt: excerptOf(text, query),
    }));
  return { messages, since, complete };
};
