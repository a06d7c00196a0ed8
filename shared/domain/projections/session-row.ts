import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { keyContextOf } from '../keys/legacy-key.ts';
import { listKindOf, parseKey } from '../keys/session-key.ts';
import { shownKey } from '../keys/shown-key.ts';
import type { IndexRow } from './index-row.ts';
import { channelOf } from './list-channel.ts';
import type { ListKind, SessionRow, TranscriptMessage } from './schemas.ts';
import { storeOf, transcriptName } from './transcript-layout.ts';

/** What a list needs of the configuration: the agent, and where the transcript mirror is. */
export type ListConfig = { readonly agent: Pick<Config['agent'], 'id'> } & {
  readonly session: Pick<Config['session'], 'mainKey' | 'scope' | 'store'>;
};

/** The configuration for a list. Paths on the host are only shown to the owner. */
export const listConfigFor = ({ agent, session }: ListConfig, isOwner: boolean): ListConfig =>
  isOwner ? { agent, session } : { agent, session: { ...session, store: undefined } };

/** How a session appears in a list. `internal`: lists do not show it under its own name (A3/40). */
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

/**
 * The path of a session's transcript in the mirror, if it is known (A2/8–10, A10/112). Without `session.store` there is no
 * mirror.
 */
const transcriptPathOf = (row: Pick<IndexRow, 'key' | 'sessionId'>, { session }: ListConfig): string | undefined => {
  if (session.store === undefined || row.sessionId === '') return undefined;
  const { folder } = storeOf(session.store, parseKey(row.key).agentId);
  return join(folder, transcriptName(row.key, row.sessionId));
};

/** Only the entries with a value. */
const known = <T extends object>(entries: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== '')) as never;

/** The row of a list (A10/103–114). `messages` only if they were requested (A10/113). */
export const sessionRowOf = (row: IndexRow, config: ListConfig, messages?: readonly TranscriptMessage[]): SessionRow => {
  const { settings, origin, lastRoute } = row;
  const facts = listFactsOf(row, config.session.mainKey);
  return {
    key: shownKey(row.key, keyContextOf(config)),
    kind: facts.kind,
    provider: facts.channel,
    channel: facts.channel,
    updatedAt: row.updatedAt,
    sessionId: row.sessionId,
    contextTokens: row.contextTokens,
    totalTokens: row.totalTokens,
    systemSent: row.systemSent,
    abortedLastRun: row.abortedLastRun,
    failedLastRun: row.failedLastRun ?? false,
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
