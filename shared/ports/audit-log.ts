import type { AuditKind } from '../domain/access/audit.ts';

/**
 * Who did, or tried, what concerns security. Never a secret, never what was said. `target` is the token's id or the session's key; `ok`: it
 * was about to be done, and was unless a record `failed` follows; `count`: how often, where several are told as one.
 */
export interface AuditRecord {
  readonly v: 1;
  readonly at: number;
  readonly kind: AuditKind;
  /** As in commits; empty: nobody knows who it was. */
  readonly actor: string;
  readonly target?: string;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly detail?: string;
  /** Where the call came from. */
  readonly address?: string;
  readonly count?: number;
}

export interface StoredAudit extends AuditRecord {
  readonly seq: number;
}

/** The audit trail: durable, bounded in age and size (`topology.ts`); of each kind the oldest go first. */
export interface AuditLog {
  /** Durable once it resolves. */
  append(record: AuditRecord): Promise<void>;
  /** Records after a sequence, oldest first, and whether more follow. Without `after`: the newest ones. */
  page(options: { after?: number; limit: number; kind?: AuditKind }): Promise<{ records: StoredAudit[]; more: boolean }>;
}
