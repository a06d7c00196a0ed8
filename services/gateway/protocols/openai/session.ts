import type { FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { parseKey, type SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { keyFrom } from '../../../../shared/runtime/session-tools/named-session.ts';
import { derivedSessionKey } from '../../access/derived-session-key.ts';
import { callAttemptOf } from '../../commands/call-attempt.ts';
import { ownersOnly } from '../../context/access.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { sessionHeader } from '../../http/session-header.ts';
import { findResponse } from './find-response.ts';
import type { CompletionRequest } from './input.ts';

/** The session of a call, and the key under which the call is made once. `isFresh`: a new session for this call, without any history. */
export interface NamedSession {
  readonly key: SessionKey;
  readonly isFresh: boolean;
  readonly idempotencyKey: string | undefined;
}
/**
 * The session that the request names, else that of its `user`, else a fresh one. `submitMessage` checks whether the caller may write there; only
 * the owner may start sessions of the last two kinds.
 */
export const sessionFor = async (
  context: GatewayContext,
  request: FastifyRequest,
  agentId: string,
  given: CompletionRequest,
  idempotencyKey: string | undefined,
): Promise<NamedSession> => {
  const named = await namedIn(context, request, given);
  if (named !== null) {
    const { agentId: of } = parseKey(named);
    if (of === agentId) return { key: named, isFresh: false, idempotencyKey };
    throw new NatterError('invalid', `model: this session is one of the agent "${of}"`, { field: 'model' });
  }
  ownersOnly(request.principal, `a conversation without the header "${sessionHeader}"`);
  const { user } = given;
  if (user !== undefined)
    return { key: derivedSessionKey(agentId, 'openai-user', request.actor, user), isFresh: false, idempotencyKey };
  const once = idempotencyKey ?? (await keyOfCall(context, request));
  return { key: derivedSessionKey(agentId, 'openai', request.actor, once), isFresh: true, idempotencyKey: once };
};

/** The key of a call that starts a session of its own. For clients that count their attempts, a retry has that of the first. */
const keyOfCall = async ({ ports }: GatewayContext, request: FastifyRequest): Promise<string> => {
  const call = callAttemptOf(request);
  const fresh = uuidv7();
  return call === undefined ? fresh : ports.newCalls.keyOf(call, fresh);
};

const namedIn = async (
  context: GatewayContext,
  request: FastifyRequest,
  given: CompletionRequest,
): Promise<SessionKey | null> => {
  const { conversation, previousResponseId } = given;
  const header = sessionNamed(request);
  const names = [header, conversation, previousResponseId].filter((name) => name !== undefined);
  if (names.length > 1) {
    const field = previousResponseId === undefined ? 'conversation' : 'previous_response_id';
    throw new NatterError('invalid', `${field}: the session is named twice; leave one of them out`, { field });
  }
  if (header !== undefined) return keyFrom(context.config, header, sessionHeader);
  if (conversation !== undefined) return keyFrom(context.config, conversation, 'conversation');
  if (previousResponseId === undefined) return null;
  const wrong = { field: 'previous_response_id', code: 'previous_response_not_found' };
  return (await findResponse(context, request.principal, previousResponseId, wrong)).key;
};
const sessionNamed = ({ headers }: FastifyRequest): string | undefined => {
  const given = headers[sessionHeader];
  if (given === undefined) return undefined;
  try {
    return decodeURIComponent(String(given));
  } catch {
    throw new NatterError('invalid', `${sessionHeader}: is not valid percent-encoded UTF-8`, { field: sessionHeader });
  }
};
