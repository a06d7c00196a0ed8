import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../answer.ts';
import type { GatewayContext } from '../context.ts';
import { streamLate } from '../late-stream.ts';
import { answerTo, type Question } from './ask.ts';
import { type OpenAiError, toldOf } from './failure.ts';

/** An answer that is told piece by piece: each part of the stream as the text that goes out. */
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
  question: Question,
  frames: Frames,
): Promise<void> => {
  const fail = (thrown: unknown) => {
    const { error, isOurs } = toldOf(thrown, request.id);
    return { frame: frames.fail(error), isOurs };
  };
  return streamLate(context, request, reply, { signal: question.signal, begin: frames.begin, fail }, async (write) => {
    const answer = await answerTo(context, request, question, {
      begun: () => void write(''),
      text: (text) => write(frames.text(text)),
    });
    return frames.end(answer);
  });
};
