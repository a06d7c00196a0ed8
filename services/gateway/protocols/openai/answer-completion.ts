import type { FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../../../../shared/kit/limits.ts';
import { callAttemptOf } from '../../commands/call-attempt.ts';
import { idempotencyKeyOf } from '../../commands/envelope.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import { sessionHeader } from '../../http/session-header.ts';
import { waiting } from '../../operation/waiting.ts';
import type { Answer } from '../../runs/answer.ts';
import { answerTo, type Question, questionOf, withFirstRun } from './answer-question.ts';
import { type CompletionRequest, conversationIn } from './input.ts';
import { agentNamed, modelNameOf } from './models.ts';
import { sessionFor } from './session.ts';
import { type Frames, streamAnswer } from './stream.ts';

export const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

/** `Prefer: wait=SECONDS` (RFC 7240) makes the wait for an answer shorter. */
const waitMsOf = ({ headers: { prefer } }: FastifyRequest): number => {
  const [, seconds = limits.answerSeconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec(String(prefer ?? '')) ?? [];
  return Math.min(Number(seconds), limits.answerSeconds) * 1_000;
};

/** An answer in one of the two forms. */
interface Form {
  readonly frames: Frames;
  readonly whole: (answer: Answer) => object;
}

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
  const conversation = conversationIn(asked);
  const session = await sessionFor(context, request, agentId, asked, idempotencyKeyOf(request));
  const call = session.idempotencyKey === undefined ? callAttemptOf(request) : undefined;
  await waiting(context, reply, async (signal) => {
    const given = questionOf(request, session, { conversation, call, waitMs: waitMsOf(request), signal });
    const question = await withFirstRun(context, request, given);
    reply.header(sessionHeader, encodeURIComponent(session.key)).header('x-natter-run', question.runId);
    const form = formOf(question, modelNameOf(agentId), secondsOf(context.ports.clock.now()));
    if (asked.stream) return streamAnswer(context, request, reply, question, form.frames);
    reply.send(form.whole(await answerTo(context, request, question)));
  });
  return reply;
};
