import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseKey } from '../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Answer } from '../answer.ts';
import { idempotencyKeyOf } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import { noQuery, queryOf } from '../input.ts';
import { answerTo, type Question, questionOf } from '../openai/ask.ts';
import { chatCompletion, chatFrames } from '../openai/chat-completion.ts';
import { openAiErrors } from '../openai/failure.ts';
import { findResponse } from '../openai/find.ts';
import { responseIdOf } from '../openai/ids.ts';
import { type Asked, chatAsked, conversationIn, responseAsked } from '../openai/input.ts';
import { agentNamed, modelNameOf, modelObject } from '../openai/models.ts';
import { placeOf, sessionHeader } from '../openai/place.ts';
import { responseFrames, responseObject } from '../openai/response.ts';
import { type Frames, streamAnswer } from '../openai/stream.ts';
import { waiting } from '../waiting.ts';

const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

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

/** OpenAI's interface: `/v1/models`, `/v1/chat/completions` and `/v1/responses`; see `docs/integrate/openai-api.md`. */
export const openAiRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: Asked,
    formOf: (question: Question, model: string, createdAt: number) => Form,
  ): Promise<FastifyReply> => {
    queryOf(noQuery, request);
    const agentId = agentNamed(context.config, asked.model);
    const conversation = conversationIn(asked);
    const once = idempotencyKeyOf(request);
    const place = await placeOf(context, request, agentId, asked);
    await waiting(context, reply, async (signal) => {
      const question = questionOf(request, place, { conversation, once, waitMs: waitMsOf(request), signal });
      reply.header(sessionHeader, encodeURIComponent(place.key)).header('x-natter-run', question.runId);
      const form = formOf(question, modelNameOf(agentId), secondsOf(context.ports.clock.now()));
      if (asked.stream) return streamAnswer(context, request, reply, question, form.frames);
      reply.send(form.whole(await answerTo(context, request, question)));
    });
    return reply;
  };

  const models = (scope: FastifyInstance): void => {
    scope.get('/v1/models', async (request) => {
      queryOf(noQuery, request);
      return { object: 'list', data: [modelObject(context.config.agent.id)] };
    });
    // The name has a slash, which not every client escapes.
    scope.get('/v1/models/*', async (request) => {
      queryOf(noQuery, request);
      return modelObject(agentNamed(context.config, (request.params as { '*': string })['*']));
    });
  };

  const chat = (scope: FastifyInstance): void => {
    scope.post('/v1/chat/completions', async (request, reply) => {
      const asked = chatAsked(request);
      return answer(request, reply, asked, ({ runId }, model, created) => {
        const head = { id: `chatcmpl-${runId}`, model, created };
        return { frames: chatFrames(head, asked.includeUsage), whole: (said) => chatCompletion(head, said) };
      });
    });
  };

  const responses = (scope: FastifyInstance): void => {
    scope.post('/v1/responses', async (request, reply) => {
      const asked = responseAsked(request);
      return answer(request, reply, asked, ({ key, runId }, model, createdAt) => {
        const previousResponseId = asked.previousResponseId ?? null;
        const head = { id: responseIdOf(key, runId), runId, key, model, createdAt, previousResponseId };
        return { frames: responseFrames(head), whole: (said) => responseObject(head, said) };
      });
    });

    scope.get('/v1/responses/:id', async (request) => {
      queryOf(noQuery, request);
      const { id } = request.params as { id: string };
      const found = await findResponse(context, request.principal, id, { field: 'id', code: 'response_not_found' });
      const { key, runId, answer: said } = found;
      const model = modelNameOf(parseKey(key).agentId);
      const createdAt = secondsOf(said.at ?? 0);
      return responseObject({ id, key, runId, model, createdAt, previousResponseId: null }, said);
    });
  };

  app.register(async (scope) => {
    scope.setErrorHandler(openAiErrors(context.log));
    models(scope);
    chat(scope);
    responses(scope);
  });
};
