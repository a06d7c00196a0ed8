import type { Role } from '../../domain/values/role.ts';

/** The stored form of a secret: its SHA-256 in hex, and when it expires, if it does (ms). */
export interface TokenSecret {
  readonly sha256: string;
  readonly until?: number;
}

/** A token issued while the system runs. The newest secret comes first; during a rotation the previous one follows. */
export interface IssuedToken {
  readonly v: 1;
  readonly id: string;
  readonly role: Role;
  /** As in `Principal`. */
  readonly principal?: string;
  readonly namespace?: string;
  readonly sessionKey?: string;
  readonly deletedSeq?: number;
  readonly label: string;
  readonly createdAt: number;
  /** The actor who created it. */
  readonly createdBy: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly secrets: readonly TokenSecret[];
  /** The token that it was derived from, by its actor and the SHA-256 (hex) of the secret used: it is valid no longer than that one. */
  readonly parent?: { readonly actor: string; readonly sha256: string } | undefined;
}

/** What a ticket allows its holder, once: to open one event stream as this actor. */
export interface Ticket {
  readonly actor: string;
  readonly path: string;
  readonly expiresAt: number;
  /** SHA-256 (hex) of the token it was requested with: the ticket is void once that token is. */
  readonly tokenSha256: string;
  /** Of a code for the page: the role that it signs in with. */
  readonly role?: Role | undefined;
}

export interface Tokens {
  /** Resolves with `false` if the id exists already. */
  add(token: IssuedToken): Promise<boolean>;
  /** Changes the stored token. Resolves with the result, or `null` if it does not exist. */
  change(id: string, change: (token: IssuedToken) => IssuedToken): Promise<IssuedToken | null>;
  remove(id: string): Promise<void>;
  /** Keeps a copy of all tokens in memory until closed; it lags by at most a second. */
  watch(): Promise<TokensView>;
  /** Stores a ticket under the SHA-256 (hex) of its secret for `ttlMs`, in whole seconds. */
  keepTicket(sha256: string, ticket: Ticket, ttlMs: number): Promise<void>;
  /** Takes the ticket: only one call gets it. `null`: it does not exist or was used. */
  takeTicket(sha256: string): Promise<Ticket | null>;
}

export interface TokensView {
  get(id: string): IssuedToken | undefined;
  all(): Iterable<IssuedToken>;
  /** Reads the latest changes now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}
