import { type Operation, operation } from '../../operation/operation.ts';
import { route } from '../../operation/route.ts';
import * as samples from '../../operation/samples.ts';
import {
  addItems,
  createBody,
  createConversation,
  deleteConversation,
  deleteItem,
  itemsBody,
  listItems,
  readConversation,
  readItem,
  updateBody,
  updateConversation,
} from './conversations.ts';
import { errors } from './format/failure.ts';
import { itemListQuery, itemQuery } from './format/items.ts';
import * as results from './format/results.ts';

/** OpenAI's conversations; see `docs/integrate/openai-api.md`. */

const path = '/v1/conversations';
const reading = ['not_found', 'quarantined', 'damaged'] as const;
const writing = ['forbidden', ...reading] as const;
const example = { id: samples.key, object: 'conversation', created_at: 1_767_603_600, metadata: { topic: 'builds' } };
const item = { type: 'message', role: 'user', content: 'The build is red.' };
const shared = { tag: 'openai' } as const;

export const conversationOperations: readonly Operation[] = [
  operation(createConversation, {
    ...{ ...shared, id: 'createConversation', changes: 'sessions' },
    summary: 'Creates a conversation, which is a session',
    http: route({
      ...{ method: 'post', path, headers: ['Idempotency-Key'], body: createBody, errors },
      answers: { 200: results.conversation },
      examples: { body: { metadata: { topic: 'builds' }, items: [item] }, answer: example },
      problems: writing,
      input: ({ body, idempotencyKey }, _, request) => ({ ...body, idempotencyKey, request }),
    }),
  }),
  operation(readConversation, {
    ...{ ...shared, id: 'readConversation', changes: 'nothing' },
    summary: 'Returns a conversation',
    http: route({
      ...{ method: 'get', path: `${path}/:id`, errors },
      answers: { 200: results.conversation },
      examples: { answer: example },
      problems: reading,
      input: ({ path: { id = '' } }) => ({ id }),
    }),
  }),
  operation(updateConversation, {
    ...{ ...shared, id: 'updateConversation', changes: 'sessions' },
    summary: 'Replaces the metadata of a conversation',
    http: route({
      ...{ method: 'post', path: `${path}/:id`, body: updateBody, errors },
      answers: { 200: results.conversation },
      examples: { body: { metadata: { topic: 'builds' } }, answer: example },
      problems: writing,
      input: ({ path: { id = '' }, body }) => ({ id, ...body }),
    }),
  }),
  operation(deleteConversation, {
    ...{ ...shared, id: 'deleteConversation', changes: 'sessions' },
    summary: 'Deletes a conversation with all that was said in it',
    http: route({
      ...{ method: 'delete', path: `${path}/:id`, errors },
      answers: { 200: results.deletedConversation },
      examples: { answer: { id: samples.key, object: 'conversation.deleted', deleted: true } },
      problems: [...writing, 'session_busy'],
      input: ({ path: { id = '' } }) => ({ id }),
    }),
  }),
  operation(listItems, {
    ...{ ...shared, id: 'listConversationItems', changes: 'nothing' },
    summary: 'Lists what was said in a conversation, newest first',
    http: route({
      ...{ method: 'get', path: `${path}/:id/items`, query: itemListQuery, errors },
      answers: { 200: results.itemList },
      problems: reading,
      input: ({ path: { id = '' }, query }) => ({ id, query }),
    }),
  }),
  operation(addItems, {
    ...{ ...shared, id: 'createConversationItems', changes: 'sessions' },
    summary: 'Adds context to a conversation, which nobody answers',
    http: route({
      ...{ method: 'post', path: `${path}/:id/items`, query: itemQuery, headers: ['Idempotency-Key'], body: itemsBody, errors },
      answers: { 200: results.itemList },
      examples: { body: { items: [item] } },
      problems: writing,
      input: ({ path: { id = '' }, body: { items }, idempotencyKey }) => ({ id, items, idempotencyKey }),
    }),
  }),
  operation(readItem, {
    ...{ ...shared, id: 'readConversationItem', changes: 'nothing' },
    summary: 'Returns one item of a conversation',
    http: route({
      ...{ method: 'get', path: `${path}/:id/items/:itemId`, query: itemQuery, errors },
      answers: { 200: results.conversationItem },
      problems: reading,
      input: ({ path: { id = '', itemId = '' } }) => ({ id, itemId }),
    }),
  }),
  operation(deleteItem, {
    ...{ ...shared, id: 'deleteConversationItem', changes: 'sessions' },
    summary: 'Is refused: what was said goes only with its conversation',
    http: route({
      ...{ method: 'delete', path: `${path}/:id/items/:itemId`, errors: { ...errors, statuses: [409] } },
      answers: { 200: results.conversation },
      problems: writing,
      input: ({ path: { id = '', itemId = '' } }) => ({ id, itemId }),
    }),
  }),
];
