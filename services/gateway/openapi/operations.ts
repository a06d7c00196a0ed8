import { z } from 'zod';
import { noQuery } from '../input.ts';
import * as approvals from '../routes/approvals.ts';
import { auditQuery } from '../routes/audit.ts';
import * as events from '../routes/events.ts';
import { strictEnvelope } from '../routes/inbound.ts';
import * as memory from '../routes/memory.ts';
import { body as rpcBody } from '../routes/rpc.ts';
import { ticketBody } from '../routes/tickets.ts';
import { rotationBody, tokenBody } from '../routes/tokens.ts';
import { methods } from '../rpc-methods.ts';
import * as answers from './answers.ts';
import type { Operation } from './operation.ts';
import { sessionOperations } from './session-operations.ts';

/** Each method by name with its parameters; they may be left out where none is needed. */
const call = z.union(
  Object.entries(methods).map(([name, { parameters }]) =>
    rpcBody.extend({
      method: z.literal(name),
      params: parameters.safeParse({}).success ? parameters.optional() : parameters,
    }),
  ),
);

const stream = 'text/event-stream';
const dark = ['quarantined'] as const;

/** Every call of the native API, in the order of `docs/integrate/http-api.md`. A test compares it with the routes that are registered. */
export const operations: readonly Operation[] = [
  {
    ...{ id: 'inbound', method: 'post', path: '/v1/inbound', tag: 'messages' },
    summary: 'Hands in what a platform said; the router finds the session',
    query: noQuery,
    body: strictEnvelope,
    answers: { 202: answers.inbound },
    problems: ['forbidden', 'not_found'],
  },
  ...sessionOperations,
  {
    ...{ id: 'listApprovals', method: 'get', path: '/v1/approvals', tag: 'approvals' },
    summary: 'Lists what waits for a person, newest first',
    query: approvals.listQuery,
    answers: { 200: answers.approvals },
  },
  {
    ...{ id: 'answerApproval', method: 'post', path: '/v1/approvals/:id', tag: 'approvals' },
    summary: "Gives a person's answer",
    query: noQuery,
    headers: ['Idempotency-Key'],
    body: approvals.answerBody,
    answers: { 200: answers.answered, 202: answers.answered },
    problems: [
      ...(['forbidden', 'approval_forbidden', 'approval_unknown', 'approval_resolved', 'approval_expired'] as const),
      ...dark,
    ],
  },
  {
    ...{ id: 'listMemory', method: 'get', path: '/v1/memory', tag: 'memory' },
    summary: 'Lists or searches what is remembered that the caller may see',
    query: memory.memoryQuery,
    answers: { 200: answers.memories },
  },
  {
    ...{ id: 'readMemory', method: 'get', path: '/v1/memory/:id', tag: 'memory' },
    summary: 'Tells of one memory and how it came to be',
    query: noQuery,
    answers: { 200: answers.memoryRead },
    problems: ['not_found'],
  },
  {
    ...{ id: 'addMemory', method: 'post', path: '/v1/memory', tag: 'memory' },
    summary: 'Has something remembered',
    query: noQuery,
    headers: ['Idempotency-Key'],
    body: memory.memoryBody,
    answers: { 201: answers.memoryAdded, 202: answers.memoryAdded },
    problems: ['forbidden', 'not_found', 'refused', ...dark],
  },
  {
    ...{ id: 'forgetMemory', method: 'delete', path: '/v1/memory/:id', tag: 'memory' },
    summary: 'Has a memory forgotten',
    query: memory.forgetQuery,
    headers: ['Idempotency-Key'],
    answers: { 200: answers.memoryForgotten, 202: answers.memoryForgotten },
    problems: ['forbidden', 'not_found', 'refused', ...dark],
  },
  {
    ...{ id: 'readEvents', method: 'get', path: '/v1/events', tag: 'events' },
    summary: 'Pages, or with `Accept: text/event-stream` follows, the events of all sessions that the caller may see',
    query: events.allQuery,
    headers: ['Last-Event-ID'],
    answers: { 200: [answers.events, stream] },
  },
  {
    ...{ id: 'call', method: 'post', path: '/v1/rpc', tag: 'methods' },
    summary: 'Calls a method by its name',
    query: noQuery,
    body: call,
    answers: { 200: answers.called },
    problems: [
      'forbidden',
      'send_denied',
      'not_found',
      'session_unknown',
      'session_busy',
      'session_retained',
      'introspection_disabled',
      'refused',
      ...dark,
    ],
  },
  {
    ...{ id: 'createTicket', method: 'post', path: '/v1/tickets', tag: 'access' },
    summary: "Makes a one-time ticket for a browser's EventSource",
    query: noQuery,
    body: ticketBody,
    answers: { 201: answers.ticket },
    problems: ['forbidden'],
  },
  {
    ...{ id: 'listTokens', method: 'get', path: '/v1/tokens', tag: 'access' },
    summary: 'Lists the tokens that were made while the system ran',
    query: noQuery,
    answers: { 200: answers.tokens },
    problems: ['forbidden'],
  },
  {
    ...{ id: 'createToken', method: 'post', path: '/v1/tokens', tag: 'access' },
    summary: 'Makes a token and tells it once',
    query: noQuery,
    body: tokenBody,
    answers: { 201: answers.tokenMade },
    problems: ['forbidden'],
  },
  {
    ...{ id: 'revokeToken', method: 'delete', path: '/v1/tokens/:id', tag: 'access' },
    summary: 'Takes a token back',
    query: noQuery,
    answers: { 200: answers.tokenShown },
    problems: ['forbidden', 'not_found'],
  },
  {
    ...{ id: 'rotateToken', method: 'post', path: '/v1/tokens/:id/rotate', tag: 'access' },
    summary: 'Makes a new secret for a token; the old one may stay valid for a while',
    query: noQuery,
    body: rotationBody,
    answers: { 200: answers.tokenMade },
    problems: ['forbidden', 'not_found'],
  },
  {
    ...{ id: 'readAudit', method: 'get', path: '/v1/audit', tag: 'access' },
    summary: 'Pages the audit trail, without `after` its newest records',
    query: auditQuery,
    answers: { 200: answers.audit },
    problems: ['not_found'],
  },
  {
    ...{ id: 'describe', method: 'get', path: '/v1/openapi.json', tag: 'operations' },
    summary: 'Tells this document',
    query: noQuery,
    answers: { 200: z.looseObject({ openapi: z.string() }) },
  },
  {
    ...{ id: 'describeEvents', method: 'get', path: '/v1/asyncapi.json', tag: 'operations' },
    summary: 'Tells what is on the broker, as AsyncAPI 3',
    query: noQuery,
    answers: { 200: z.looseObject({ asyncapi: z.string() }) },
  },
  {
    ...{ id: 'live', method: 'get', path: '/livez', tag: 'operations', isOpen: true },
    summary: 'Tells that the process lives',
    answers: { 200: answers.health },
  },
  {
    ...{ id: 'ready', method: 'get', path: '/readyz', tag: 'operations', isOpen: true },
    summary: 'Tells whether the gateway can serve, and why not',
    answers: { 200: answers.health, 503: answers.health },
  },
  {
    ...{ id: 'metrics', method: 'get', path: '/metrics', tag: 'operations' },
    summary: 'Tells the numbers of the process, as Prometheus reads them',
    query: noQuery,
    answers: { 200: ['text/plain'] },
  },
];

/** Routes of protocols with a description of their own, each with the page that tells of it. */
export const elsewhere: Readonly<Record<string, string>> = {
  '/mcp': 'docs/integrate/mcp.md',
  '/v1/ws': 'docs/integrate/websocket.md',
  '/v1/models': 'docs/integrate/openai-api.md',
  '/v1/chat/completions': 'docs/integrate/openai-api.md',
  '/v1/responses': 'docs/integrate/openai-api.md',
  '/v1/ui/chat': 'docs/integrate/ui-streams.md',
  '/v1/agui': 'docs/integrate/ui-streams.md',
};
