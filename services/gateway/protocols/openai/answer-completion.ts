import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { callAttemptOf } from '../../commands/call-attempt.ts';
import { idempotencyKeyOf } from '../../commands/envelope.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import { Refusal } from '../../http/problem.ts';
import { sessionHeader } from '../../http/session-header.ts';
import { waiting } from '../../operation/waiting.ts';
import type { Answer } from '../../runs/answer.ts';
import { answerTo, begunAnswer, type Question, questionOf, withFirstRun, withResults } from './answer-question.ts';
import { conversationIn, resultsAsText } from './conversation.ts';
import { approvalRequired } from './format/failure.ts';
import { agentNamed, modelNameOf } from './format/models.ts';
import { protocols } from './format/session-names.ts';
import type { CompletionRequest } from './input.ts';
import { freshSession, type NamedSession, sessionInThread, sessionNamedBy, sessionOfCalls } from './session.ts';
import { type Frames, streamAnswer } from './stream.ts';
import { deleteWhenSent, limitLife } from './unstored.ts';

export const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

/** `Prefer: wait=SECONDS` (RFC 7240) makes the wait for an answer shorter. */
export const waitMsOf = ({ headers: { prefer } }: FastifyRequest): number => {
  const [, seconds = limits.answerSeconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec(String(prefer ?? '')) ?? [];
  return Math.min(Number(seconds), limits.answerSeconds) * 1_000;
};

/** An answer in one of the two forms. */
interface Form {
  readonly frames: Frames;
  readonly whole: (answer: Answer) => object;
}

/** The question of a request in its session. Results of calls, and a client's retry, are submitted already. */
const submittedQuestion = async (
  context: GatewayContext,
  request: FastifyRequest,
  given: Parameters<typeof sessionNamedBy>[2],
  signal: AbortSignal,
): Promise<Question> => {
  const { conversation, idempotencyKey } = given;
  const { results, text } = conversation;
  const asking = { waitMs: waitMsOf(request), signal };
  const named = await sessionNamedBy(context, request, given);
  if (results.length > 0) {
    const key = named?.key ?? (await sessionOfCalls(context, request, given));
    const session = key === null ? null : { key, isFresh: false, idempotencyKey };
    const question = session && questionOf(request, session, { conversation, call: undefined, ...asking });
    const begun = question && (await orUnexpected(withResults(context, request, question), named !== null && text === ''));
    if (begun) return begun;
  }
  const session = named ?? (await sessionForCall(context, request, given));
  const call = session.idempotencyKey === undefined ? callAttemptOf(request) : undefined;
  const said = text === '' && results.length > 0 ? { ...conversation, text: resultsAsText(results) } : conversation;
  const question = questionOf(request, session, { conversation: said, call, ...asking });
  await refuseBehindApproval(context, question.key);
  return withFirstRun(context, request, question);
};

/** The session of a call that names none. */
const sessionForCall = async (
  context: GatewayContext,
  request: FastifyRequest,
  given: Parameters<typeof sessionNamedBy>[2],
): Promise<NamedSession> => {
  if (!given.given.isUnstored) return sessionInThread(context, request, given);
  const session = await freshSession(context, request, { ...given, protocol: protocols.unstored });
  await limitLife(context, request, session.key);
  return session;
};

/** `null` if no call waits for the results, as when the program got them elsewhere. */
const orUnexpected = async (given: Promise<Question>, isNamed: boolean): Promise<Question | null> => {
  try {
    return await given;
  } catch (error) {
    if (!isNamed && error instanceof Refusal && error.code === 'results_unexpected') return null;
    throw error;
  }
};

/** Nobody who uses this interface could answer, and the message would wait for that. */
const refuseBehindApproval = async ({ sessions }: GatewayContext, key: SessionKey): Promise<void> => {
  const row = await sessions.get(key);
  if (row?.status !== 'awaiting_approval' || row.approval === null) return;
  throw approvalRequired(
    row.approval.approvalId,
    'the session waits for it, and your message was not posted; send it again after that',
  );
};

/** Posts the message of a request and answers with its run: whole, or piece by piece where the request asks for a stream. */
export const answerCompletion = async (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: CompletionRequest,
  formOf: (question: Question, model: string, createdAt: number) => Form,
): Promise<FastifyReply> => {
  queryOf(noQuery, request);
  const agentId = agentNamed(context.config, asked.model);
  const given = { agentId, given: asked, conversation: conversationIn(asked), idempotencyKey: idempotencyKeyOf(request) };
  await waiting(context, reply, async (signal) => {
    const question = await submittedQuestion(context, request, given, signal);
    reply.header(sessionHeader, encodeURIComponent(question.key)).header('x-natter-run', question.runId);
    const { frames, whole } = formOf(question, modelNameOf(agentId), secondsOf(context.ports.clock.now()));
    const sending = deleteWhenSent(context, request, reply, question.key);
    const end = (answer: Answer) => frames.end(sending(answer));
    if (asked.stream) return streamAnswer(context, request, reply, question, { ...frames, end });
    const answering = asked.isBackground ? begunAnswer : answerTo;
    reply.send(whole(sending(await answering(context, request, question))));
  });
  return reply;
};
