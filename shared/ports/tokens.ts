import type { Role } from '../domain/values/role.ts';

/** A secret of a token, never as it is: its SHA-256 in hex, and when it ends, if it does (ms). */
export interface TokenSecret {
  readonly sha256: string;
  readonly until?: number;
}

/** A token made while the system runs. The newest secret is the first; a second one is the one before it, for a while. */
export interface IssuedToken {
  readonly v: 1;
  readonly id: string;
  readonly role: Role;
  /** As in `Principal`. */
  readonly principal?: string;
  readonly namespace?: string;
  readonly label: string;
  readonly createdAt: number;
  /** The actor who made it. */
  readonly createdBy: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly secrets: readonly TokenSecret[];
}

/** What a ticket lets whoever has it do, once: open one event stream as this actor. */
export interface Ticket {
  readonly actor: string;
  readonly path: string;
  readonly expiresAt: number;
  /** SHA-256 (hex) of the token that it was asked for with: it is worth nothing without that. */
  readonly tokenSha256: string;
}

export interface Tokens {
  /** `false`: there is one with this id. */
  add(token: IssuedToken): Promise<boolean>;
  /** Changes the token as it is stored now. Resolves with what it then is; `null`: there is no such token. */
  change(id: string, change: (token: IssuedToken) => IssuedToken): Promise<IssuedToken | null>;
  remove(id: string): Promise<void>;
  /** Keeps a copy of all tokens in memory until closed, current within a second. */
  watch(): Promise<TokensView>;
  /** Keeps a ticket under the SHA-256 of its secret (hex) for `ttlMs`, whole seconds. */
  keepTicket(sha256: string, ticket: Ticket, ttlMs: number): Promise<void>;
  /** The ticket, to one caller alone and once; `null`: there is none, or it was used. */
  takeTicket(sha256: string): Promise<Ticket | null>;
}

export interface TokensView {
  get(id: string): IssuedToken | undefined;
  all(): Iterable<IssuedToken>;
  /** Reads now what has changed. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}
