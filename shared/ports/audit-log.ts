import type { AuditKind } from '../domain/access/audit.ts';

/**
 * One security-relevant action or attempt. Contains no secrets and no messages. `target` is the id of the token or the session
 * key. `ok` is written before the action: it succeeded unless a record `failed` follows. `count`: the number of occurrences, if
 * several are recorded as one. `commitSeq`: the log sequence of the commit that the action made, if that is known.
 */
export interface AuditRecord {
  readonly v: 1;
  readonly at: number;
  readonly kind: AuditKind;
  /** As in commits; empty if unknown. */
  readonly actor: string;
  readonly target?: string;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly detail?: string;
  /** The caller's network address. */
  readonly address?: string;
  readonly count?: number;
  readonly commitSeq?: number;
}

export interface StoredAudit extends AuditRecord {
  readonly seq: number;
}

export interface AuditRange {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly kind?: AuditKind | undefined;
}

/** The audit trail: durable, bounded in age and size (`topology.ts`); the oldest records of each kind are dropped first. */
export interface AuditLog {
  /** Durable once it resolves. */
  append(record: AuditRecord): Promise<void>;
  /**
   * Records after a sequence, oldest first, and whether more follow. With `before` in its place: the last ones before that sequence, oldest
   * first, and whether there are older ones. With neither: the newest ones.
   */
  page(range: AuditRange): Promise<{ records: StoredAudit[]; more: boolean }>;
}
