import { z } from 'zod';
import { limits } from '../../../shared/kit/limits.ts';
import { limitNumber, limitParameter } from '../http/input.ts';
import { method, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { addMemory, forgetMemory, listMemory, readMemory } from './memory.ts';

/** Long-term memory: what is remembered, why, and people's changes of it (A7/82). */

const listQuery = z.object({
  scope: z.string('give it once').min(1).max(2_048).optional(),
  query: z.string('give it once').min(1).max(limits.memoryQueryCharacters).optional(),
  limit: limitParameter(50),
  cursor: z.string('give it once').optional(),
});
const listParameters = z.strictObject({
  scope: z.string().min(1).max(2_048).optional(),
  query: z.string().min(1).max(limits.memoryQueryCharacters).optional(),
  limit: limitNumber(50),
  cursor: z.string().min(1).max(64).optional(),
});
const additionBody = z.strictObject({
  text: z.string().trim().min(1, 'is empty; say what to remember').max(limits.memoryCharacters),
  scope: z.string().min(1).max(2_048),
});
const forgetQuery = z.object({ reason: z.string('give it once').min(1).max(500).default('asked for') });
const id = z.string().min(1).max(limits.idCharacters);
const forgetParameters = z.strictObject({ id, reason: z.string().min(1).max(500).default('asked for') });

const changing = ['forbidden', 'not_found', 'refused', 'quarantined', 'damaged'] as const;

export const memoryOperations: readonly Operation[] = [
  operation(listMemory, {
    ...{ id: 'listMemory', tag: 'memory', changes: 'nothing' },
    summary: 'Lists or searches the memories that the caller may see',
    http: route({
      ...{ method: 'get', path: '/v1/memory', query: listQuery },
      answers: { 200: results.memories },
      examples: { answer: { memories: [samples.memory], nextCursor: null } },
      input: ({ query }) => query,
    }),
    rpc: method({ name: 'memory.list', parameters: listParameters, input: (query) => query }),
  }),
  operation(readMemory, {
    ...{ id: 'readMemory', tag: 'memory', changes: 'nothing' },
    summary: 'Returns one memory and its history',
    http: route({
      ...{ method: 'get', path: '/v1/memory/:id' },
      answers: { 200: results.memoryRead },
      examples: { answer: { ...samples.memory, history: [] } },
      problems: ['not_found'],
      input: ({ path }) => path.id ?? '',
    }),
    rpc: method({ name: 'memory.get', parameters: z.strictObject({ id }), input: (given) => given.id }),
  }),
  operation(addMemory, {
    ...{ id: 'addMemory', tag: 'memory', changes: 'sessions' },
    summary: 'Adds a memory',
    http: route({
      ...{ method: 'post', path: '/v1/memory', headers: ['Idempotency-Key'], body: additionBody },
      answers: { 201: results.memoryAdded, 202: results.memoryAdded },
      examples: {
        body: { text: 'Ann prefers short answers.', scope: 'person' },
        answer: { id: samples.memory.id, scope: samples.memory.scope, ...samples.takenSample },
      },
      problems: changing,
      input: ({ body, idempotencyKey }) => ({ ...body, idempotencyKey }),
    }),
  }),
  operation(forgetMemory, {
    ...{ id: 'forgetMemory', tag: 'memory', changes: 'sessions' },
    summary: 'Removes a memory',
    http: route({
      ...{ method: 'delete', path: '/v1/memory/:id', query: forgetQuery, headers: ['Idempotency-Key'] },
      answers: { 200: results.memoryForgotten, 202: results.memoryForgotten },
      examples: { answer: { id: samples.memory.id, ...samples.takenSample } },
      problems: changing,
      input: ({ path, query, idempotencyKey }) => ({ id: path.id ?? '', ...query, idempotencyKey }),
    }),
    rpc: method({ name: 'memory.forget', parameters: forgetParameters, input: (removal) => removal }),
  }),
];
