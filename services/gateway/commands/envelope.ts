import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { type ChangeKind, mayChange, type Principal } from '../../../shared/domain/access/access.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type Occasion, occasionOf } from '../../../shared/domain/routing/occasion.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';

/** Commands as the gateway makes them: what a caller asks for, with an identity and a time. */

/** The `Idempotency-Key` header of a request; `undefined` without one. Throws `NatterError('invalid')`. */
export const idempotencyKeyOf = ({ headers }: FastifyRequest): string | undefined => {
  const given = headers['idempotency-key'];
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(given)) {
    const message = 'idempotency-key: use 1 to 255 printable ASCII characters without spaces';
    throw new NatterError('invalid', message, { field: 'idempotency-key' });
  }
  return given;
};

/** Who makes a call: the request's id, on whose behalf it is made, and from where. */
export type Caller = Pick<FastifyRequest, 'id' | 'actor' | 'principal'> & { readonly ip?: string };

/** The id of a command that one caller sends to one session under one idempotency key, however often. */
export const idempotentIdOf = (
  { actor }: Pick<Caller, 'actor'>,
  key: SessionKey,
  type: SessionCommand['type'],
  idempotencyKey: string,
): string => {
  const hash = createHash('sha256').update(JSON.stringify([actor, key, type, idempotencyKey]));
  return `once-${hash.digest('base64url')}`;
};

/**
 * The id of a command, which is its run's. With an idempotency key it is derived from that, the caller, the session key and the command's
 * type: the same request again is the same run on any replica, and no key reaches into another session or another caller's runs.
 */
export const commandIdOf = (
  caller: Caller,
  key: SessionKey,
  type: SessionCommand['type'],
  idempotencyKey: string | undefined,
): string => (idempotencyKey === undefined ? uuidv7() : idempotentIdOf(caller, key, type, idempotencyKey));

/** What the gateway knows of a session to which it submits a message: its source, the id of a new generation, and when it is stale (A3/41, A4/43). */
export const occasionFor = (config: Config, key: SessionKey, at: number): Occasion =>
  occasionOf(key, config, { at, sessionId: `api:${uuidv7()}` });

/** Makes the envelope of a caller's command. Throws `NatterError('forbidden')` if the caller's role does not allow it. */
export const envelopeOf = (
  request: Caller,
  command: Pick<CommandEnvelope, 'id' | 'key' | 'at' | 'data' | 'ifSeq' | 'call'>,
): CommandEnvelope => {
  checkChange(request.principal, command.data.type === 'resolve_approval' ? 'approvals' : 'sessions');
  return { ...command, correlationId: command.id, causationId: request.id, actor: request.actor };
};

/** Throws `NatterError('forbidden')` if the principal's role may not make this change. */
export const checkChange = (principal: Principal, change: ChangeKind): void => {
  if (mayChange(principal, change)) return;
  throw new NatterError('forbidden', `a token of role "${principal.role}" may not change this; use another one`);
};
