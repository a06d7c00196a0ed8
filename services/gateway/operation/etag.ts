import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionMoved } from '../../../shared/domain/session/decide/decision.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { idempotencyKeyOf } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';

/** A session's version is the sequence of its last commit, as the entity tag `"<seq>"` (RFC 9110, 8.8.3 and 13.1). */

const list = (header: string): string[] => header.split(',').map((tag) => tag.trim());
const entityTag = /^(W\/)?"[\x21\x23-\x7e]*"$/;

/** Answers with a session's state, or 304 where the caller has it already. Changes that come from the clock alone do not change the tag. */
export const sendTagged = (reply: FastifyReply, seq: number, body: object): FastifyReply => {
  const tag = `"${seq}"`;
  reply.header('etag', tag);
  const known = list(reply.request.headers['if-none-match'] ?? '').map((one) => one.replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*') ? reply.code(304).send() : reply.send(body);
};

/** Reads `If-Match`: the tags, `*`, or nothing. Throws `NatterError('invalid')`. */
const matchOf = ({ headers }: FastifyRequest): readonly string[] | undefined => {
  const given = headers['if-match'];
  if (given === undefined) return undefined;
  const tags = list(given);
  if (given.trim() === '*' || tags.every((tag) => entityTag.test(tag))) return tags;
  throw new NatterError('invalid', 'if-match: send the ETag of the session as it was given, such as "17" with its quotes, or *', {
    field: 'if-match',
  });
};

/**
 * Resolves with the sequence that a session must be at for a call to take effect; empty without a condition. Call it after the access check.
 * The session checks again itself. Throws `Refusal('precondition_failed')` for a session at another sequence.
 */
export type Condition = () => Promise<{ readonly ifSeq?: number }>;

/** The condition of a call: its header `If-Match`. Throws `NatterError('invalid')`. */
export const conditionOf = (context: GatewayContext, request: FastifyRequest, key: SessionKey): Condition => {
  const tags = matchOf(request);
  if (tags === undefined) return async () => ({});
  const isRepeatable = idempotencyKeyOf(request) !== undefined;
  return () => check(context, key, tags, isRepeatable);
};

const check = async (
  { sessions }: GatewayContext,
  key: SessionKey,
  tags: readonly string[],
  isRepeatable: boolean,
): Promise<{ readonly ifSeq?: number }> => {
  const row = await sessions.row(key);
  if (tags.includes('*')) {
    if (row === null || row.deleted || row.generation === 0) throw moved();
    return {};
  }
  // A weak tag never matches (RFC 9110, 13.1.1).
  const seqs = tags.flatMap((tag) => (/^"\d{1,15}"$/.test(tag) ? [Number(tag.slice(1, -1))] : []));
  const seq = row?.seq ?? 0;
  if (seqs.includes(seq)) return { ifSeq: seq };
  // A retry finds the session moved by its own first attempt; the session recognises it.
  const [first] = seqs;
  if (first === undefined || !isRepeatable) throw moved();
  return { ifSeq: first };
};

const moved = (): Refusal => new Refusal('precondition_failed', sessionMoved);
