import { limits } from '../../../../shared/kit/limits.ts';
import { noQuery } from '../../http/input.ts';
import { type Call, type Operation, operation } from '../../operation/operation.ts';
import { type ErrorFormat, route } from '../../operation/route.ts';
import * as samples from '../../operation/samples.ts';
import { answerCompletion } from './answer-completion.ts';
import { chatCompletion, chatFrames } from './chat-completion.ts';
import { conversationOperations } from './conversation-operations.ts';
import { embeddingsBody, embedTexts } from './embeddings.ts';
import { errors } from './format/failure.ts';
import { responseIdOf } from './format/ids.ts';
import { itemListQuery } from './format/items.ts';
import { agentNamed, modelObject } from './format/models.ts';
import * as results from './format/results.ts';
import { chatBody, readChatRequest, readResponseRequest, responsesBody } from './input.ts';
import { responseFrames, responseObject } from './response.ts';
import { cancelResponse, deleteResponse, inputItemsOf, responseQuery, sendResponse } from './stored-response.ts';

/** OpenAI's interface: models, chat completions, responses, embeddings and conversations; see `docs/integrate/openai-api.md`. */

/** A run may wait for a person, or not end in time. */
const answerErrors: ErrorFormat = { ...errors, statuses: [409, 504] };
const headers = ['Idempotency-Key', 'X-Natter-Session', 'Prefer'] as const;
const stream = 'text/event-stream';
const asking = ['forbidden', 'not_found', 'unsupported', 'quarantined', 'damaged'] as const;

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
  operation(embedTexts, {
    ...{ id: 'createEmbeddings', tag: 'openai', changes: 'sessions' },
    summary: 'Returns texts as vectors, by a provider in the configuration',
    http: route({
      ...{ method: 'post', path: '/v1/embeddings', body: embeddingsBody, errors },
      answers: { 200: results.embeddings },
      examples: { body: { model: 'text-embedding-3-small', input: 'Is the build green?' } },
      problems: ['forbidden', 'not_found', 'unsupported'],
      input: ({ body }) => body,
      waitMs: () => limits.answerSeconds * 1_000,
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
        const asked = await readResponseRequest(context, request);
        return answerCompletion(context, request, reply, asked, ({ key, runId }, model, createdAt) => {
          const previousResponseId = asked.previousResponseId ?? null;
          const { client, isBackground } = asked;
          const head = { id: responseIdOf(key, runId), runId, key, model, createdAt, previousResponseId, client, isBackground };
          return { frames: responseFrames(head), whole: (answer) => responseObject(head, answer) };
        });
      },
    },
  },
  {
    ...{ id: 'readResponse', tag: 'openai', changes: 'nothing' },
    summary: 'Returns a response as the log has it now, or streams it from its beginning or a later event',
    http: {
      ...{ method: 'get', path: '/v1/responses/:id', query: responseQuery, headers: ['Prefer'], errors: answerErrors },
      answers: { 200: [results.response, stream] },
      problems: ['not_found'],
      handle: sendResponse,
    },
  },
  operation(cancelResponse, {
    ...{ id: 'cancelResponse', tag: 'openai', changes: 'sessions' },
    summary: 'Stops the run of a response',
    http: route({
      ...{ method: 'post', path: '/v1/responses/:id/cancel', errors: answerErrors },
      answers: { 200: results.response },
      problems: ['forbidden', 'not_found'],
      input: ({ path }) => path.id ?? '',
      waitMs: () => 60_000,
    }),
  }),
  operation(deleteResponse, {
    ...{ id: 'deleteResponse', tag: 'openai', changes: 'sessions' },
    summary: 'Deletes a response with its session, unless others are in it',
    http: route({
      ...{ method: 'delete', path: '/v1/responses/:id', errors: answerErrors },
      answers: { 200: results.deletedResponse },
      problems: ['forbidden', 'not_found', 'session_busy'],
      input: ({ path }) => path.id ?? '',
    }),
  }),
  operation(inputItemsOf, {
    ...{ id: 'listResponseInputItems', tag: 'openai', changes: 'nothing' },
    summary: 'Lists what a response answers',
    http: route({
      ...{ method: 'get', path: '/v1/responses/:id/input_items', query: itemListQuery, errors },
      answers: { 200: results.itemList },
      problems: ['not_found'],
      input: ({ path, query }) => ({ id: path.id ?? '', query }),
    }),
  }),
  ...conversationOperations,
];
