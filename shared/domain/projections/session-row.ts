import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { shownKey } from '../keys/legacy-key.ts';
import { listKindOf, parseKey } from '../keys/session-key.ts';
import { channelOf } from './channel.ts';
import type { ListKind, SessionRow, TranscriptMessage } from './schemas.ts';
import type { IndexRow } from './summary.ts';
import { storeOf, transcriptName } from './transcript-layout.ts';

/** What a list needs to know of the configuration: whose sessions these are, and where their mirror is. */
export type ListConfig = { readonly agent: Pick<Config['agent'], 'id'> } & {
  readonly session: Pick<Config['session'], 'mainKey' | 'scope' | 'store'>;
};

/** What a list may tell: where files are on the host is the owner's to know. */
export const listConfigFor = ({ agent, session }: ListConfig, isOwner: boolean): ListConfig =>
  isOwner ? { agent, session } : { agent, session: { ...session, store: undefined } };

/** What a key and its row say of a session's place in a list. `internal`: no list shows it by its own name (A3/40). */
export interface ListFacts {
  readonly kind: ListKind;
  readonly channel: string;
  readonly internal: 'global' | 'unknown' | null;
}
export const listFactsOf = (row: IndexRow, mainKey: string): ListFacts => {
  const parsed = parseKey(row.key, mainKey);
  const internal = parsed.kind === 'global' || parsed.kind === 'unknown' ? parsed.kind : null;
  return { kind: listKindOf(parsed), channel: channelOf(parsed, row), internal };
};

/** Where the readable mirror of a session is, best effort (A2/8–10, A10/112). Nothing without `session.store`: then there is no mirror. */
const transcriptPathOf = (row: Pick<IndexRow, 'key' | 'sessionId'>, { session }: ListConfig): string | undefined => {
  if (session.store === undefined || row.sessionId === '') return undefined;
  const { folder } = storeOf(session.store, parseKey(row.key).agentId);
  return join(folder, transcriptName(row.key, row.sessionId));
};

/** Only the entries that say something. */
const known = <T extends object>(entries: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== '')) as never;

/** The row of a list (A10/103–114). `messages` only where some were asked for (A10/113). */
export const sessionRowOf = (row: IndexRow, config: ListConfig, messages?: readonly TranscriptMessage[]): SessionRow => {
  const { settings, origin, lastRoute } = row;
  const facts = listFactsOf(row, config.session.mainKey);
  return {
    key: shownKey(row.key, config.session.mainKey, config.agent.id),
    kind: facts.kind,
    provider: facts.channel,
    channel: facts.channel,
    updatedAt: row.updatedAt,
    sessionId: row.sessionId,
    contextTokens: row.contextTokens,
    totalTokens: row.totalTokens,
    systemSent: row.systemSent,
    abortedLastRun: row.abortedLastRun,
    ...known({
      displayName: settings.displayName ?? origin.displayName ?? (facts.kind === 'group' ? origin.label : undefined),
      model: settings.model ?? row.model,
      thinkingLevel: settings.thinkingLevel,
      verboseLevel: settings.verboseLevel,
      sendPolicy: settings.sendPolicy,
      lastChannel: lastRoute?.channel,
      lastTo: lastRoute?.to,
      transcriptPath: transcriptPathOf(row, config),
    }),
    ...(messages && { messages: [...messages] }),
  };
};
