import type { FastifyRequest } from 'fastify';
import { hasCode } from '../../shared/kit/errors.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Clock } from '../../shared/ports.ts';
import type { SessionCommand } from '../../shared/session/commands.ts';
import type { CommandEnvelope } from '../../shared/wire/envelope.ts';
import type { Asker } from './commands.ts';

export type AuditKind =
  | 'authentication_failed'
  | 'access_denied'
  | 'token_created'
  | 'token_revoked'
  | 'token_rotated'
  | 'approval_answered'
  | 'session_deleted';

/** What strangers try is told of once in this time, with how often it was: who guesses must not fill the log. */
const sampleMs = 1_000;

/** Commands that are noted, by whom they were given. */
const kindOfCommand: Partial<Record<SessionCommand['type'], AuditKind>> = {
  resolve_approval: 'approval_answered',
  delete_session: 'session_deleted',
};

/** Who did, or tried, what concerns security: lines of the log with `audit: true` (reliability §3.4). Never a token, never what was said. */
export class Audit {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #samples = new Map<AuditKind, { readonly notedAt: number; readonly unnoted: number }>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  note(
    kind: AuditKind,
    { id: requestId, actor }: Pick<Asker, 'id' | 'actor'>,
    facts: Readonly<Record<string, unknown>> = {},
  ): void {
    this.#log.info({ audit: true, kind, actor, requestId, ...facts }, kind);
  }

  /** Notes a command that a session has taken, if it is one of those. */
  command({ actor, causationId, key, data }: CommandEnvelope): void {
    const kind = kindOfCommand[data.type];
    if (kind !== undefined) this.note(kind, { id: causationId, actor }, { key });
  }

  /** Notes what a request was refused for: a wrong token or ticket, a page that may not, or what its role may not do. */
  refused(request: FastifyRequest, error: unknown): void {
    const route = request.routeOptions.url ?? 'unknown';
    const isForbidden = hasCode(error, 'forbidden');
    if (!isForbidden && !hasCode(error, 'unauthorized')) return;
    if (!isForbidden) this.#sample('authentication_failed', request, { route, address: request.ip });
    else if (request.actor) this.note('access_denied', request, { route, method: request.method });
    // Nobody counts the calls of those who are refused before they show a token.
    else this.#sample('access_denied', request, { route, method: request.method, address: request.ip });
  }

  #sample(kind: AuditKind, request: FastifyRequest, facts: Readonly<Record<string, unknown>>): void {
    const now = this.#clock.monotonic();
    const { notedAt = Number.NEGATIVE_INFINITY, unnoted = 0 } = this.#samples.get(kind) ?? {};
    const isDue = now - notedAt >= sampleMs;
    if (isDue) this.note(kind, request, { ...facts, count: unnoted + 1 });
    this.#samples.set(kind, isDue ? { notedAt: now, unnoted: 0 } : { notedAt, unnoted: unnoted + 1 });
  }
}
