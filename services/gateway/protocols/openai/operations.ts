import { parseKey } from '../../../../shared/domain/keys/session-key.ts';
import { noQuery } from '../../http/input.ts';
import { type Call, type Operation, operation } from '../../operation/operation.ts';
import { type ErrorFormat, route } from '../../operation/route.ts';
import * as samples from '../../operation/samples.ts';
import { answerCompletion, secondsOf } from './answer-completion.ts';
import { chatCompletion, chatFrames } from './chat-completion.ts';
import { openAiErrors } from './failure.ts';
import { findResponse } from './find-response.ts';
import { responseIdOf } from './ids.ts';
import { chatBody, readChatRequest, readResponseRequest, responsesBody } from './input.ts';
import { agentNamed, modelNameOf, modelObject } from './models.ts';
import { responseFrames, responseObject } from './response.ts';
import * as results from './results.ts';

/** OpenAI's interface: `/v1/models`, `/v1/chat/completions` and `/v1/responses`; see `docs/integrate/openai-api.md`. */

const errors: ErrorFormat = {
  name: 'OpenAiError',
  description: "An error in OpenAI's shape",
  ...{ schema: results.openAiError, statuses: [], handler: openAiErrors },
};
/** A run may wait for a person, or not end in time. */
const answerErrors: ErrorFormat = { ...errors, statuses: [409, 504] };
const headers = ['Idempotency-Key', 'X-Natter-Session', 'Prefer'] as const;
const stream = 'text/event-stream';
const asking = ['forbidden', 'not_found', 'unsupported', 'quarantined', 'damaged'] as const;

const readResponse = async ({ context, caller }: Call, id: string) => {
  const found = await findResponse(context, caller.principal, id, { field: 'id', code: 'response_not_found' });
  const { key, runId, answer } = found;
  const head = { id, key, runId, model: modelNameOf(parseKey(key).agentId), createdAt: secondsOf(answer.at ?? 0) };
  return responseObject({ ...head, previousResponseId: null }, answer);
};

export const openAiOperations: readonly Operation[] = [
  operation(({ context }: Call, _: null) => ({ object: 'list', data: [modelObject(context.config.agent.id)] }), {
    ...{ id: 'listModels', tag: 'openai', changes: 'nothing' },
    summary: 'Lists the agents, as models',
    http: route({
      ...{ method: 'get', path: '/v1/models', errors },
      answers: { 200: results.models },
      examples: { answer: { object: 'list', data: [modelObject('main')] } },
      input: () => null,
    }),
  }),
  operation(({ context }: Call, name: string) => modelObject(agentNamed(context.config, name)), {
    ...{ id: 'readModel', tag: 'openai', changes: 'nothing' },
    summary: 'Returns one agent, as a model',
    http: route({
      // The name has a slash, which not every client escapes.
      ...{ method: 'get', path: '/v1/models/*', rest: 'model', errors },
      answers: { 200: results.model },
      examples: { answer: modelObject('main') },
      problems: ['not_found'],
      input: ({ path }) => path['*'] ?? '',
    }),
  }),
  {
    ...{ id: 'createChatCompletion', tag: 'openai', changes: 'sessions' },
    summary: 'Posts the last message of a conversation and returns the answer, whole or as a stream',
    http: {
      ...{
        method: 'post',
        path: '/v1/chat/completions',
        query: noQuery,
        headers,
        body: chatBody,
        errors: answerErrors,
        takesFiles: true,
      },
      answers: { 200: [results.chatCompletionResult, stream] },
      examples: { body: { model: 'natter', messages: [{ role: 'user', content: 'Is the build green?' }] } },
      problems: asking,
      handle: async (context, request, reply) => {
        const asked = readChatRequest(request);
        return answerCompletion(context, request, reply, asked, ({ runId }, model, created) => {
          const head = { id: `chatcmpl-${runId}`, model, created };
          return { frames: chatFrames(head, asked.includeUsage), whole: (answer) => chatCompletion(head, answer) };
        });
      },
    },
  },
  {
    ...{ id: 'createResponse', tag: 'openai', changes: 'sessions' },
    summary: 'Posts a message and returns the answer as a response, whole or as a stream',
    http: {
      ...{
        method: 'post',
        path: '/v1/responses',
        query: noQuery,
        headers,
        body: responsesBody,
        errors: answerErrors,
        takesFiles: true,
      },
      answers: { 200: [results.response, stream] },
      examples: { body: { model: 'natter', input: 'Is the build green?', conversation: samples.key } },
      problems: asking,
      handle: async (context, request, reply) => {
        const asked = readResponseRequest(request);
        return answerCompletion(context, request, reply, asked, ({ key, runId }, model, createdAt) => {
          const previousResponseId = asked.previousResponseId ?? null;
          const head = { id: responseIdOf(key, runId), runId, key, model, createdAt, previousResponseId, client: asked.client };
          return { frames: responseFrames(head), whole: (answer) => responseObject(head, answer) };
        });
      },
    },
  },
  operation(readResponse, {
    ...{ id: 'readResponse', tag: 'openai', changes: 'nothing' },
    summary: 'Returns a response as the log has it now',
    http: route({
      ...{ method: 'get', path: '/v1/responses/:id', errors },
      answers: { 200: results.response },
      problems: ['not_found'],
      input: ({ path }) => path.id ?? '',
    }),
  }),
];
