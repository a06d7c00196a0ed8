import { z } from 'zod';
import {
  sessionsHistoryParameters,
  sessionsHistoryResult,
  sessionsSendParameters,
  sessionsSendResult,
} from '../../../shared/domain/projections/schemas.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { incomingAttachments } from '../attachments/incoming-attachment.ts';
import { afterParameter, beforeParameter, limitNumber, limitParameter, waitParameter } from '../http/input.ts';
import { acting, method, type Operation, operation, readOnly, tool } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route, sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { sessionsHistory } from './history.ts';
import { postBody, postMessage } from './post-message.ts';
import { readMessages } from './read-messages.ts';
import { receiveEnvelope, strictEnvelope } from './receive-envelope.ts';
import { messagesFound, scheduledMessage, scheduledMessages } from './results.ts';
import { cancelScheduledMessage, listScheduledMessages } from './scheduled-messages.ts';
import { searchMessages } from './search-messages.ts';
import { chatSend, sessionsSend } from './send.ts';

/** Messages: on their way in, from platforms, people and programs, and as they are recorded. */

const postQuery = z.object({ wait: waitParameter });
const listQuery = z.object({
  after: afterParameter.optional(),
  before: beforeParameter.optional(),
  limit: limitParameter(100),
});

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'use 1 to 255 printable ASCII characters without spaces')
  .optional();
const attachments = incomingAttachments.optional().describe('Files of the message.');
const sendParameters = sessionsSendParameters.extend({ attachments });
const chatParameters = sendParameters.omit({ timeoutSeconds: true }).extend({ idempotencyKey });
const agentParameters = sendParameters.extend({
  idempotencyKey,
  timeoutSeconds: sessionsSendParameters.shape.timeoutSeconds.unwrap().default(0),
});
const historyParameters = sessionsHistoryParameters.extend({ includeTools: z.boolean().default(true) });

const query = z.string('give it once').trim().min(1, 'is empty; use some words').max(limits.memoryQueryCharacters);
const searchQuery = z.object({ q: query, limit: limitParameter(50) });
const scheduledQuery = z.object({
  key: z.string('give it once').min(1).max(1_024).optional().describe('only of this session'),
  limit: limitParameter(50),
});
const searchParameters = z.strictObject({
  query,
  limit: limitNumber(50),
});

const reading = ['not_found', 'quarantined', 'damaged'] as const;

export const messageOperations: readonly Operation[] = [
  operation(receiveEnvelope, {
    ...{ id: 'inbound', tag: 'messages', changes: 'sessions' },
    summary: 'Accepts a message from a platform; the router finds its session',
    http: route({
      ...{ method: 'post', path: '/v1/inbound', body: strictEnvelope },
      answers: { 202: results.inbound },
      examples: {
        body: {
          ...{ id: samples.messageId, channel: 'telegram', conversation: { id: '-100123', kind: 'group' } },
          ...{ sender: { id: '42', name: 'Ann' }, text: 'Is the build green?' },
        },
        answer: { id: samples.messageId, status: 'accepted', duplicate: false },
      },
      problems: ['forbidden', 'not_found'],
      input: ({ body }) => body,
    }),
  }),
  operation(postMessage, {
    ...{ id: 'postMessage', tag: 'messages', changes: 'sessions' },
    summary: 'Posts a message, and optionally waits for the answer',
    http: sessionRoute({
      ...{ method: 'post', path: '/messages', query: postQuery, headers: ['Idempotency-Key', 'If-Match'], body: postBody },
      takesFiles: true,
      answers: { 200: results.begunRun, 202: results.begunRun },
      examples: { body: { text: 'Is the build green?' }, answer: samples.runSample },
      problems: [...reading, 'forbidden', 'precondition_failed', 'refused'],
      input: ({ query, ...given }) => ({ ...given, waitMs: query.wait * 1_000 }),
      waitMs: ({ query, body }) => (body.sendAt === undefined ? query.wait * 1_000 : 0),
    }),
  }),
  operation(listScheduledMessages, {
    ...{ id: 'listScheduledMessages', tag: 'messages', changes: 'nothing' },
    summary: 'Lists scheduled messages (`sendAt`), the next first',
    http: route({
      ...{ method: 'get', path: '/v1/scheduled-messages', query: scheduledQuery },
      answers: { 200: scheduledMessages },
      examples: { answer: { messages: [samples.scheduledSample], complete: true } },
      input: ({ query: { key, limit } }, { config }) => ({
        ...(key !== undefined && { key: keyFrom(config, key, 'key') }),
        limit,
      }),
    }),
  }),
  operation(cancelScheduledMessage, {
    ...{ id: 'cancelScheduledMessage', tag: 'messages', changes: 'sessions' },
    summary: 'Cancels a scheduled message; this is audited',
    http: route({
      ...{ method: 'delete', path: '/v1/scheduled-messages/:runId' },
      answers: { 200: scheduledMessage },
      examples: { answer: samples.scheduledSample },
      problems: ['forbidden', 'not_found'],
      input: ({ path: { runId = '' } }) => runId,
    }),
  }),
  operation(readMessages, {
    ...{ id: 'readMessages', tag: 'messages', changes: 'nothing' },
    summary: 'Pages the messages of a session, oldest first; with `before`, newest first',
    http: sessionRoute({
      ...{ method: 'get', path: '/messages', query: listQuery },
      answers: { 200: results.messagesResult },
      examples: {
        answer: {
          messages: [
            {
              ...{
                id: '41.0',
                seq: 41,
                at: samples.at,
                sessionId: samples.sessionId,
                role: 'user',
                messageId: samples.messageId,
              },
              ...{ text: 'Is the build green?', sender: samples.sender, runId: samples.runId },
            },
          ],
          ...samples.page,
        },
      },
      problems: reading,
      input: ({ key, query }) => ({ key, ...query }),
    }),
  }),
  operation(searchMessages, {
    ...{ id: 'searchMessages', tag: 'messages', changes: 'nothing' },
    summary: 'Searches what was said in the sessions that the caller may see',
    http: route({
      ...{ method: 'get', path: '/v1/search', query: searchQuery },
      answers: { 200: messagesFound },
      examples: {
        answer: {
          messages: [
            {
              ...{ key: samples.key, shownKey: 'main', id: '41.0', seq: 41, at: samples.at, role: 'user' },
              ...{ from: 'Ann', excerpt: 'Is the build green?' },
            },
          ],
          ...{ since: 0, complete: true },
        },
      },
      input: ({ query: { q, limit } }) => ({ query: q, limit }),
    }),
    rpc: method({ name: 'messages.search', parameters: searchParameters, input: (given) => given }),
  }),
  operation(sessionsHistory, {
    ...{ id: 'readHistory', tag: 'messages', changes: 'nothing' },
    summary: 'Returns the last messages of a session, as transcripts have them',
    rpc: method({ name: 'chat.history', parameters: historyParameters, input: (given) => given }),
    mcp: tool({
      ...{ name: 'sessions_history', parameters: sessionsHistoryParameters, result: sessionsHistoryResult },
      ...{ annotations: readOnly, description: 'The last messages of a session, oldest first.' },
      input: (given) => given,
    }),
  }),
  operation(chatSend, {
    ...{ id: 'sendChatMessage', tag: 'messages', changes: 'sessions' },
    summary: "Submits a person's message, which may be a chat command, and does not wait",
    rpc: method({ name: 'chat.send', parameters: chatParameters, input: (given) => given }),
  }),
  operation(sessionsSend, {
    ...{ id: 'sendAgentMessage', tag: 'messages', changes: 'sessions' },
    summary: 'Submits a message from a program or an agent, and optionally waits for the answer',
    rpc: method({
      ...{ name: 'agent', parameters: agentParameters },
      input: (given) => given,
      waitMs: ({ timeoutSeconds }) => timeoutSeconds,
    }),
    mcp: tool({
      ...{ name: 'sessions_send', parameters: sendParameters, result: sessionsSendResult },
      annotations: { ...acting, destructiveHint: false },
      description:
        'Sends a message to the agent of a session and waits for its answer. After "timeout" it goes on: read the history later.',
      input: (given) => given,
      waitMs: ({ timeoutSeconds }) => timeoutSeconds,
    }),
  }),
];
