import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { type ChangeKind, mayChange, type Principal } from '../../shared/domain/access/access.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { type Occasion, occasionOf } from '../../shared/domain/routing/occasion.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import { NatterError } from '../../shared/kit/errors.ts';

/** Commands as the door makes them: the caller's wish with an identity and a time. */

/** The header that makes a call one that can be repeated; nothing where it is not sent. Throws `NatterError('invalid')`. */
export const idempotencyKeyOf = ({ headers }: FastifyRequest): string | undefined => {
  const given = headers['idempotency-key'];
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(given)) {
    const message = 'idempotency-key: use 1 to 255 printable ASCII characters without spaces';
    throw new NatterError('invalid', message, { field: 'idempotency-key' });
  }
  return given;
};

/**
 * The id of a command, which is its run's. With an `Idempotency-Key` it is derived from that, the caller, the session key and the command's
 * type: the same request again is the same run on any replica, and no key reaches into another session or another caller's runs. Throws
 * `NatterError('invalid')`.
 */
export const commandIdOf = (request: FastifyRequest, key: SessionKey, type: SessionCommand['type']): string => {
  const given = idempotencyKeyOf(request);
  return given === undefined ? uuidv7() : onceIdOf(request, key, type, given);
};

/** Who asks: the request's id, on whose behalf it is made, and from where. */
export type Asker = Pick<FastifyRequest, 'id' | 'actor' | 'principal'> & { readonly ip?: string };

/** The id of what one caller asks of one session under one name, however often. */
export const onceIdOf = ({ actor }: Asker, key: SessionKey, type: SessionCommand['type'], given: string): string => {
  const hash = createHash('sha256').update(JSON.stringify([actor, key, type, given]));
  return `once-${hash.digest('base64url')}`;
};

/** What the door knows of a session that it brings a message to: its source, the id of a new generation, and when it is stale (A3/41, A4/43). */
export const occasionFor = (config: Config, key: SessionKey, at: number): Occasion =>
  occasionOf(key, config, { at, sessionId: `api:${uuidv7()}` });

/** The one way by which a caller's wish becomes a command. Throws `NatterError('forbidden')` where the role alone rules it out. */
export const envelopeOf = (
  request: Asker,
  command: Pick<CommandEnvelope, 'id' | 'key' | 'at' | 'data' | 'ifSeq'>,
): CommandEnvelope => {
  checkChange(request.principal, command.data.type === 'resolve_approval' ? 'approvals' : 'sessions');
  return { ...command, correlationId: command.id, causationId: request.id, actor: request.actor };
};

/** Throws `NatterError('forbidden')` where the role alone rules out that its token changes this. */
export const checkChange = (principal: Principal, change: ChangeKind): void => {
  if (mayChange(principal, change)) return;
  throw new NatterError('forbidden', `a token of role "${principal.role}" may not change this; use another one`);
};
