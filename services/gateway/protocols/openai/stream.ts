import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { sendDeferredSse } from '../../operation/deferred-sse.ts';
import type { Answer } from '../../runs/answer.ts';
import { answerTo, type KnownRun, type Question } from './answer-question.ts';
import { type OpenAiError, toldOf } from './format/failure.ts';

/** The frames of a streamed answer. */
export interface Frames {
  begin(): string;
  text(text: string): string;
  end(answer: Answer): string;
  fail(error: OpenAiError): string;
}

/** Answers a question as a stream. */
export const streamAnswer = (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question | KnownRun,
  frames: Frames,
): Promise<void> => {
  const fail = (thrown: unknown) => {
    const { error, isOurs } = toldOf(thrown, request.id);
    return { frame: frames.fail(error), isOurs };
  };
  return sendDeferredSse(context, request, reply, { signal: question.signal, begin: frames.begin, fail }, async (write) => {
    const answer = await answerTo(context, request, question, {
      begun: () => void write(''),
      text: (text) => write(frames.text(text)),
    });
    return frames.end(answer);
  });
};
