import { canAccess } from '../../../shared/domain/access/access.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { type Identities, identitiesOf } from '../../../shared/domain/keys/identity.ts';
import { parseKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { belowOf } from '../../../shared/domain/keys/spawn-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { isUnreadable, NatterError } from '../../../shared/kit/errors.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';
import type { ToolScope } from '../../../shared/ports/tools.ts';
import { rowNow } from '../../../shared/runtime/session-tools/row-now.ts';

/** What the session tools need. */
export interface SessionToolsOptions {
  readonly config: Config;
  readonly ports: Pick<Ports, 'clock' | 'events' | 'snapshots' | 'commands'>;
  readonly view: Pick<IndexView, 'get' | 'newestFirst'>;
}

/** The id in a sub-agent's source that holds the principal it works for; empty if it works for nobody. */
export const personId = 'person';
export const spawnedKind = 'subagent';

type Scope = Pick<ToolScope, 'key' | 'sender'>;

/**
 * The sessions a turn can reach through tools: those allowed by `tools.visibility` (B4) and, unless the owner wrote the message,
 * only those its sender may see (A8/89). Prompt injection cannot widen this.
 */
export const reachOf = ({ tools, session }: Config, scope: Scope): ((row: IndexRow) => boolean) => {
  const identities = identitiesOf(session.identityLinks);
  const isBelow = belowOf(scope.key);
  const agentOf = (key: SessionKey): string => parseKey(key, session.mainKey).agentId;
  const isVisible = (key: SessionKey): boolean => {
    switch (tools.visibility) {
      case 'self':
        return false;
      case 'tree':
        return isBelow(key);
      case 'agent':
        return agentOf(key) === agentOf(scope.key);
      case 'all':
        return true;
    }
  };
  return (row) =>
    !row.deleted &&
    row.generation > 0 &&
    (row.key === scope.key || (isVisible(row.key) && isTheirs(row, scope, { identities, isBelow })));
};

/**
 * A sub-agent's session also belongs to the person it works for. One that works for nobody is visible only to turns without a
 * principal, in a session above it.
 */
const isTheirs = (
  row: IndexRow,
  { sender: { role, principal } }: Scope,
  { identities, isBelow }: { readonly identities: Identities; isBelow(key: SessionKey): boolean },
): boolean => {
  if (role === 'owner') return canAccess({ role }, row, identities);
  const person = row.source?.kind === spawnedKind ? row.source.ids?.[personId] : undefined;
  if (principal === undefined) return person === '' && isBelow(row.key);
  const participants = person ? [...row.participants, person] : row.participants;
  return canAccess({ role: 'participant', principal }, { ...row, participants }, identities);
};

/**
 * The session's current row. Throws `NatterError('not_found')`, with the same message for one that does not exist and one out of
 * reach.
 */
export const reachedRow = async (
  { config, ports, view }: SessionToolsOptions,
  scope: Scope,
  key: SessionKey,
): Promise<IndexRow> => {
  const row = await rowNow(ports, key, view.get(key) ?? null).catch((error: unknown) => {
    if (isUnreadable(error) && scope.sender.role !== 'owner') return null;
    throw error;
  });
  if (row !== null && reachOf(config, scope)(row)) return row;
  throw new NatterError('not_found', 'sessionKey: there is no such session, or it is out of reach here');
};
