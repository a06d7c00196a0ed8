import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { keyOfRun } from '../../../../shared/domain/keys/run-id.ts';
import { parseKey, type SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { withoutSilence } from '../../../../shared/domain/values/silence.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { orQuarantined } from '../../../../shared/kit/or-quarantined.ts';
import { keyFrom } from '../../../../shared/runtime/session-tools/named-session.ts';
import { derivedSessionKey } from '../../access/derived-session-key.ts';
import { callAttemptOf } from '../../commands/call-attempt.ts';
import { ownersOnly } from '../../context/access.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { sessionHeader } from '../../http/session-header.ts';
import type { Conversation } from './conversation.ts';
import { findResponse } from './find-response.ts';
import { protocols } from './format/session-names.ts';
import type { CompletionRequest } from './input.ts';

/** The session of a call, and the key under which the call is made once. */
export interface NamedSession {
  readonly key: SessionKey;
  /** A new session for this call, without any history. */
  readonly isFresh: boolean;
  readonly idempotencyKey: string | undefined;
  /** For a call that names no session: where it stands in its conversation, by which the next one finds the session. */
  readonly thread?: string;
}

interface Asked {
  readonly agentId: string;
  readonly given: CompletionRequest;
  readonly conversation: Conversation;
  readonly idempotencyKey: string | undefined;
}

/** The session that the request names, else that of its `user`; `null` for a call that names none. `submitMessage` checks who may write there. */
export const sessionNamedBy = async (
  context: GatewayContext,
  request: FastifyRequest,
  { agentId, given, idempotencyKey }: Asked,
): Promise<NamedSession | null> => {
  const named = await namedIn(context, request, given);
  if (named !== null) {
    const { agentId: of } = parseKey(named);
    if (of === agentId) return { key: named, isFresh: false, idempotencyKey };
    throw new NatterError('invalid', `model: this session is one of the agent "${of}"`, { field: 'model' });
  }
  const { user } = given;
  if (user === undefined) return null;
  ownersOnly(request.principal, `a conversation without the header "${sessionHeader}"`);
  return { key: derivedSessionKey(agentId, protocols.user, request.actor, user), isFresh: false, idempotencyKey };
};

/** The session in which somebody called tools, by the calls' ids; `null`: there is none that the caller may see. */
export const sessionOfCalls = async (
  { access, sessions }: GatewayContext,
  { principal }: FastifyRequest,
  { conversation: { results } }: Asked,
): Promise<SessionKey | null> => {
  const key = keyOfRun(results[0]?.callId ?? '');
  if (key === null || (await sessions.get(key)) === null) return null;
  return access.enter(principal, key).then(
    () => key,
    () => null,
  );
};

/**
 * The session of a call that names none: the one that was left where the request's history ends, else a fresh one. Only the owner may start
 * those.
 */
export const sessionInThread = async (context: GatewayContext, request: FastifyRequest, asked: Asked): Promise<NamedSession> => {
  const { agentId, conversation, idempotencyKey } = asked;
  ownersOnly(request.principal, `a conversation without the header "${sessionHeader}"`);
  const nameOf = (thread: string): string =>
    createHash('sha256')
      .update(JSON.stringify([request.actor, agentId, thread]))
      .digest('base64url')
      .slice(0, 22);
  const thread = nameOf(conversation.thread);
  const call = callAttemptOf(request);
  const isRepeat = idempotencyKey !== undefined || (call?.attempt ?? 0) > 0;
  const before = conversation.threadBefore === null ? null : nameOf(conversation.threadBefore);
  const known =
    (before === null ? null : await leftAt(context, before, conversation.lastAnswer)) ??
    (isRepeat && before !== null ? (context.sessions.inThread(thread)[0]?.key ?? null) : null);
  if (known !== null) return { key: known, isFresh: false, idempotencyKey, thread };
  return { ...(await freshSession(context, request, asked)), thread };
};

/** A session of its own for one call; for its retry the same one. Only the owner may start it. */
export const freshSession = async (
  { ports }: GatewayContext,
  request: FastifyRequest,
  { agentId, idempotencyKey, protocol = protocols.call }: Pick<Asked, 'agentId' | 'idempotencyKey'> & { protocol?: string },
): Promise<NamedSession & { readonly idempotencyKey: string }> => {
  ownersOnly(request.principal, `a conversation without the header "${sessionHeader}"`);
  const fresh = uuidv7();
  const call = callAttemptOf(request);
  const once = idempotencyKey ?? (call === undefined ? fresh : await ports.newCalls.keyOf(call, fresh));
  return { key: derivedSessionKey(agentId, protocol, request.actor, once), isFresh: true, idempotencyKey: once };
};

/** How many conversations that began with the same words are compared. */
const compared = 8;

/** The session whose last message is this answer, of those that were last asked the same thing after the same conversation. */
const leftAt = async (context: GatewayContext, thread: string, answer: string): Promise<SessionKey | null> => {
  for (const row of context.sessions.inThread(thread).slice(0, compared)) {
    const said = await lastAnswerIn(context, row);
    if (said !== null && (said === '' ? answer === '' : answer.trim().endsWith(said.trim()))) return row.key;
  }
  return null;
};

/** The agent's last words in a session in which nobody has said anything since. */
const lastAnswerIn = async ({ ports }: GatewayContext, { key, status, lastMessageId }: IndexRow): Promise<string | null> => {
  const [seq, index] = (lastMessageId ?? '').split('.').map(Number);
  if (status !== 'idle' || !seq || index === undefined) return null;
  const { commits } = await orQuarantined(ports.events.page({ after: seq - 1, limit: 1, key }));
  const event = commits[0]?.seq === seq ? commits[0].events[index] : undefined;
  return event?.type === 'assistant_message' ? withoutSilence(event.text) : null;
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
