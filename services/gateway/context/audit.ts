import { setMaxListeners } from 'node:events';
import type { FastifyRequest } from 'fastify';
import type { AuditKind } from '../../../shared/domain/access/audit.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage, hasCode, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { AuditLog, AuditRecord } from '../../../shared/ports/audit-log.ts';

/** Refusals of one caller: the first is recorded at once, the rest once per this interval with a count, so that guessing cannot fill a disk. */
const windowMs = 10_000;

/** The caller: a request, or a call over a WebSocket. */
export type Audited = Pick<FastifyRequest, 'id' | 'actor'> & { readonly ip?: string };
/** Further facts. `detail` has names and codes, never secrets or message texts. */
export interface AuditFacts {
  readonly outcome?: AuditRecord['outcome'];
  readonly target?: string;
  readonly detail?: Readonly<Record<string, string | undefined>>;
  readonly count?: number;
  readonly commitSeq?: number;
}

interface Window {
  /** The last refusal not recorded yet. */
  latest: { readonly caller: Audited; readonly detail: AuditFacts['detail'] } | null;
  count: number;
}

/** The system itself, for example when a file has changed. */
export const system: Audited = { id: '', actor: 'system' };

/**
 * Security-relevant actions and attempts: in the durable audit trail, and as log lines with `audit: true`.
 */
export class Audit {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #trail: AuditLog;
  /** By kind and actor. Actors are tokens, so they are few; all strangers share one. */
  readonly #windows = new Map<string, Window>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor({ log, clock, trail }: { log: Logger; clock: Clock; trail: AuditLog }) {
    this.#log = log;
    this.#clock = clock;
    this.#trail = trail;
    // Every open window listens.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Records what has already happened. If the trail cannot be written, that is a warning. */
  note(kind: AuditKind, caller: Audited, facts: AuditFacts = {}): void {
    this.#line(kind, caller, facts);
    const failed = (error: unknown): void =>
      this.#log.warn({ kind, problem: errorMessage(error) }, 'the audit trail could not be written');
    this.#track(this.#trail.append(this.#recordOf(kind, caller, facts)).catch(failed));
  }

  /** Does something only after the trail has recorded it; a failure is recorded too. Throws `NatterError('unavailable')`. */
  async before<T>(kind: AuditKind, caller: Audited, facts: AuditFacts, act: () => Promise<T>): Promise<T> {
    await this.#trail.append(this.#recordOf(kind, caller, facts)).catch((cause: unknown) => {
      const message = 'the audit trail cannot be written, so nothing was done; try again';
      throw new NatterError('unavailable', message, { cause });
    });
    try {
      const done = await act();
      this.#line(kind, caller, facts);
      return done;
    } catch (error) {
      this.note(kind, caller, { ...facts, outcome: 'failed', detail: { problem: codeOf(error) } });
      throw error;
    }
  }

  /** Records a command that a session has accepted, if somebody may ask later who gave it. `commitSeq`: what it was recorded as. */
  command({ actor, causationId: id, key: target, data }: CommandEnvelope, ip?: string, commitSeq?: number): void {
    const caller = { id, actor, ...(ip !== undefined && { ip }) };
    const told = detailOf(data);
    if (told !== null)
      this.note(told.kind, caller, { target, detail: told.detail, ...(commitSeq !== undefined && { commitSeq }) });
  }

  /** Records why a request was refused: a wrong token or ticket, a forbidden origin, or an action that the role may not take. */
  refused(request: FastifyRequest, error: unknown): void {
    const kind = hasCode(error, 'forbidden') ? 'access_denied' : 'authentication_failed';
    if (kind === 'authentication_failed' && !hasCode(error, 'unauthorized')) return;
    const detail = { route: request.routeOptions.url ?? 'unknown', method: request.method };
    const name = `${kind} ${request.actor}`;
    const window = this.#windows.get(name);
    if (window !== undefined) {
      window.latest = { caller: request, detail };
      window.count += 1;
      return;
    }
    const opened: Window = { latest: null, count: 0 };
    this.#windows.set(name, opened);
    this.note(kind, request, { outcome: 'refused', detail, count: 1 });
    this.#track(
      this.#clock.sleep(windowMs, this.#closing.signal).then(() => {
        this.#windows.delete(name);
        if (opened.latest === null) return;
        const { caller, detail: latest } = opened.latest;
        this.note(kind, caller, { outcome: 'refused', detail: latest, count: opened.count });
      }),
    );
  }

  /** Records what was counted, and waits until everything is written. */
  async close(): Promise<void> {
    this.#closing.abort();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #line(kind: AuditKind, { id: requestId, actor, ip: address }: Audited, { outcome = 'ok', detail, ...facts }: AuditFacts): void {
    this.#log.info({ audit: true, kind, actor, requestId, ...(address && { address }), outcome, ...facts, ...detail }, kind);
  }

  #recordOf(
    kind: AuditKind,
    { actor, ip: address }: Audited,
    { outcome = 'ok', detail = {}, ...facts }: AuditFacts,
  ): AuditRecord {
    const told = Object.entries(detail).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
    return {
      ...{ v: 1, at: this.#clock.now(), kind, actor, outcome, ...facts },
      ...(told.length > 0 && { detail: told.join(', ').slice(0, limits.auditDetailCharacters).toWellFormed() }),
      ...(address && { address }),
    };
  }
}

/** The reason of a denial is not here: the agent is told it, so it is part of the conversation, and goes when that is erased. */
const detailOf = (data: CommandEnvelope['data']): { readonly kind: AuditKind; readonly detail: AuditFacts['detail'] } | null => {
  switch (data.type) {
    case 'resolve_approval':
      return { kind: 'approval_answered', detail: { approvalId: data.approvalId, verdict: data.verdict, scope: data.scope } };
    case 'reset':
      return { kind: 'session_reset', detail: { reason: data.cause.rule } };
    case 'fork':
      return { kind: 'session_forked', detail: { commit: `${data.from.rev}`, reason: data.reason } };
    case 'delete_session':
      return { kind: 'session_deleted', detail: { mode: data.mode, reason: data.reason } };
    default:
      return null;
  }
};

const codeOf = (error: unknown): string => (error instanceof NatterError ? error.code : 'internal');
