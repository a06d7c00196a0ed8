import { LRUCache } from 'lru-cache';
import {
  canAccess,
  type Guarded,
  isShared,
  ownsKey,
  type Principal,
  personOf,
  seesAll,
  seesApproval,
} from '../../../shared/domain/access/access.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { type Identities, type IdentityLinks, identitiesOf } from '../../../shared/domain/keys/identity.ts';
import { isGroupKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';
import { hasCode, isUnreadable, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { noSuchSession } from './history.ts';
import type { Reach, SessionList } from './session-list.ts';

/** Throws `NatterError('forbidden')` unless the caller is the owner. `what` begins the sentence. */
export const ownersOnly = (principal: Principal, what: string): void => {
  if (principal.role !== 'owner') throw new NatterError('forbidden', `${what} is the owner's; use a token of role "owner"`);
};

/** The same for what is the administrator's. */
export const adminsOnly = (principal: Principal, what: string): void => {
  if (principal.role === 'owner' && principal.admin) return;
  throw new NatterError('forbidden', `${what} is the administrator's; use the installation's own token, or one of role "admin"`);
};

/** Throws `NatterError('forbidden')` for the holder of a link to a session: `what` is no part of it. */
export const notByLink = (principal: Principal, what: string): void => {
  if (principal.role === 'viewer')
    throw new NatterError('forbidden', `${what} are no part of the session that this token is a link to; use another one`);
};

/** The same for those who see everything. */
export const seesAllOnly = (principal: Principal, what: string): void => {
  if (!seesAll(principal))
    throw new NatterError('forbidden', `${what} is for those who see everything; use a token of role "owner" or "read-only"`);
};

/** A session that the caller may see. Commits up to the sequence `after` belong to a deleted predecessor and are not shown. */
export interface Admission {
  readonly row: IndexRow;
  readonly after: number;
}

/** Applies `canAccess` at the gateway, to the log as it is now, so that it never lags behind what a caller has just written. */
export class Access {
  readonly #sessions: SessionList;
  readonly #config: () => Config;
  #identities = identitiesOf({});
  #links: IdentityLinks = {};
  /** Rows brought up to date by the commits that open streams have seen. */
  readonly #rows = new LRUCache<SessionKey, IndexRow>({ max: limits.accessRows });

  /** `config` is called each time: identity links change at run time. */
  constructor(sessions: SessionList, config: () => Config) {
    this.#sessions = sessions;
    this.#config = config;
  }

  /** The identities by the current links (A5/66). */
  get identities(): Identities {
    const { identityLinks } = this.#config().session;
    if (identityLinks !== this.#links) {
      this.#links = identityLinks;
      this.#identities = identitiesOf(identityLinks);
    }
    return this.#identities;
  }

  /** Which rows of lists the principal may see, and where to look for them. */
  reach(principal: Principal): Reach {
    const sees = (row: IndexRow): boolean => this.#sees(principal, row);
    const person = personOf(principal);
    const participants = person === undefined ? null : this.identities.aliasesOf(person);
    const namespace = principal.role === 'channel' ? principal.namespace : undefined;
    return { sees, participants: participants ?? undefined, namespace };
  }

  /** The same for lists of pending approvals (A5/62). */
  approvalReach(principal: Principal): Reach {
    if (principal.role !== 'approver') return this.reach(principal);
    const sees = (row: IndexRow): boolean => !row.deleted && seesApproval(principal, row, this.identities);
    return { sees, namespace: principal.namespace };
  }

  #sees(principal: Principal, row: IndexRow): boolean {
    return !row.deleted && canAccess(principal, row, this.identities);
  }

  /** The session, if it exists and the principal may see it. Throws `noSuchSession()`. */
  async read(principal: Principal, key: SessionKey): Promise<Admission> {
    const row = await this.#rowOf(principal, key);
    if (row === null || !this.#sees(principal, row)) throw noSuchSession();
    return { row, after: seesAll(principal) ? 0 : row.deletedSeq };
  }

  /** Whether the session exists and the principal may answer its approvals (A5/62). */
  async seesApproval(principal: Principal, key: SessionKey): Promise<boolean> {
    try {
      const row = await this.#rowOf(principal, key);
      return row !== null && !row.deleted && seesApproval(principal, row, this.identities);
    } catch (error) {
      if (hasCode(error, 'not_found')) return false;
      throw error;
    }
  }

  /**
   * Allows the principal to delete the session, or with `key` anything under the key (A8/87, C9). The owner may; others only a session that
   * is theirs alone. A group session refuses by itself (A8/88). Throws `NatterError('forbidden')` and `noSuchSession()`.
   */
  async permitDeletion(principal: Principal, key: SessionKey, mode: 'session' | 'key'): Promise<void> {
    if (mode === 'key') ownersOnly(principal, 'deleting a key');
    if (principal.role === 'channel' && principal.principal === undefined) ownersOnly(principal, 'deleting a session');
    const { row } = await this.read(principal, key);
    if (!isGroupKey(key) && this.isShared(row, key)) ownersOnly(principal, 'deleting a session that several people share');
  }

  /** Whether several people share the session, by its row if it has one (D7). */
  isShared(
    row: (Pick<Guarded, 'key' | 'participants'> & { readonly deleted: boolean }) | null | undefined,
    key: SessionKey,
  ): boolean {
    const session = row && !row.deleted ? row : { key, participants: [] };
    return isShared(session, this.#config().session.mainKey, this.identities);
  }

  /**
   * Whether the principal may change a session that they may see or start: the owner always, others one that nobody shares with them
   * (D7). `as`: the person whose text asks for it, who is never the owner.
   */
  async mayControl(principal: Principal, key: SessionKey, as?: Sender): Promise<boolean> {
    if (principal.role === 'owner' && (as === undefined || as.role === 'program')) return true;
    const row = await this.#rowOf(principal, key);
    return !this.isShared(row, key);
  }

  /** Throws `NatterError('forbidden')` unless the principal may change the session; `what` begins the sentence. */
  async permitControl(principal: Principal, key: SessionKey, what: string): Promise<void> {
    if (!(await this.mayControl(principal, key))) ownersOnly(principal, `${what} a session that several people share`);
  }

  /**
   * Allows the principal to write to the key, or to wait at it: the owner always, others where they take part or where their message would
   * start their own direct session (A5/67). Resolves with the sequence after which they may see. Throws `noSuchSession()`.
   */
  async enter(principal: Principal, key: SessionKey): Promise<number> {
    if (seesAll(principal)) return 0;
    const row = await this.#rowOf(principal, key);
    // A key with only a notice or a deletion has no session: a principal who may start one may go on.
    const isThere = row !== null && !row.deleted && row.generation > 0;
    if (isThere ? this.#sees(principal, row) : ownsKey(principal, key, this.#config(), this.identities))
      return row?.deletedSeq ?? 0;
    throw noSuchSession();
  }

  /** Whether the principal may see a commit on a stream: participants change while streams are open. */
  async shows(principal: Principal, commit: RecordedCommit): Promise<boolean> {
    return seesAll(principal) || this.#showsBy(await this.#rowWith(commit), principal, commit);
  }

  /** The same for a page of older commits. A deletion takes effect at once, even if the index is late. */
  showsNow(principal: Principal): (commit: RecordedCommit) => Promise<boolean> {
    const asked = new Set<SessionKey>();
    return async (commit) => {
      const shown = await this.shows(principal, commit);
      if (!shown || seesAll(principal) || asked.has(commit.key)) return shown;
      asked.add(commit.key);
      const row = await this.#rowNow(commit.key);
      if (row !== null) this.#rows.set(commit.key, row);
      return this.#showsBy(row, principal, commit);
    };
  }

  #showsBy(row: IndexRow | null, principal: Principal, commit: RecordedCommit): boolean {
    return row !== null && commit.seq > row.deletedSeq && this.#sees(principal, row);
  }

  /** Whether the principal may see the live text of a turn; no, as long as the commit that started the turn is not here yet. */
  showsText(principal: Principal, key: SessionKey, turnId: string): boolean {
    if (seesAll(principal)) return true;
    const row = this.#known(key);
    return row !== undefined && row.activeTurnId === turnId && this.#sees(principal, row);
  }

  async #rowOf(principal: Principal, key: SessionKey): Promise<IndexRow | null> {
    try {
      return await this.#sessions.row(key);
    } catch (error) {
      // Only those who could read a session may learn that it is quarantined.
      const known = this.#sessions.peek(key);
      const isTheirs = seesAll(principal) || (known !== undefined && this.#sees(principal, known));
      throw isUnreadable(error) && !isTheirs ? noSuchSession() : error;
    }
  }

  /** `null` also for a quarantined session: in events of all sessions only the owner sees it. */
  async #rowNow(key: SessionKey): Promise<IndexRow | null> {
    try {
      return await this.#sessions.row(key);
    } catch (error) {
      if (isUnreadable(error)) return null;
      throw error;
    }
  }

  #known(key: SessionKey): IndexRow | undefined {
    const [seen, indexed] = [this.#rows.get(key), this.#sessions.peek(key)];
    return (seen?.seq ?? 0) > (indexed?.seq ?? 0) ? seen : indexed;
  }

  /** The row after this commit, without reading the log where the row before it is cached. */
  async #rowWith(commit: RecordedCommit): Promise<IndexRow | null> {
    const known = this.#known(commit.key);
    const isKnown = known !== undefined && known.seq >= commit.seq;
    // Without a cached row, even the first commit may belong to a history that has since been deleted.
    const isNext = known?.rev === commit.rev - 1;
    const row = isKnown ? known : isNext ? summarize(known, commit) : await this.#rowNow(commit.key);
    if (row !== null) this.#rows.set(commit.key, row);
    return row;
  }
}
