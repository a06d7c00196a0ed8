import { z } from 'zod';
import { resumeRequest } from '../../../shared/domain/values/delivery.ts';
import { eventParameter } from '../http/input.ts';
import { numberedListParameters, numberedListQuery, numberedParameters, sequenceIn } from '../operation/numbered.ts';
import { method, type Operation, operation } from '../operation/operation.ts';
import { route, sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { leaveDelivery, listDelivered, listDeliveries, readDelivery, repeatDelivery, resumeAccounts } from './deliveries.ts';
import * as results from './results.ts';
import { readSessionDeliveries } from './session-deliveries.ts';

/** What became of outgoing messages, and those that may not have arrived. Not for MCP: a model must not decide what people get twice. */

const seqOf = sequenceIn('delivery');
const resumeBody = resumeRequest.strict();

const text = 'The build is green.';
const warning = 'the receiver may get it twice';

export const deliveryOperations: readonly Operation[] = [
  operation(readSessionDeliveries, {
    ...{ id: 'readSessionDeliveries', tag: 'sessions', changes: 'nothing' },
    summary: 'Says of the messages that an event has sent whether they were delivered, after how many attempts',
    http: sessionRoute({
      ...{ method: 'get', path: '/deliveries', query: z.object({ event: eventParameter }) },
      answers: { 200: results.sessionDeliveries },
      examples: { answer: { deliveries: [samples.eventDelivery] } },
      problems: ['not_found', 'quarantined', 'damaged'],
      input: ({ key, query: { event } }) => ({ key, event }),
    }),
  }),
  operation(listDeliveries, {
    ...{ id: 'listDeliveries', tag: 'operations', changes: 'nothing' },
    summary: 'Lists outgoing messages that may not have arrived, newest first, and those that wait to be sent',
    http: route({
      ...{ method: 'get', path: '/v1/deliveries', query: numberedListQuery },
      answers: { 200: results.deliveries },
      examples: { answer: { waiting: [samples.waitingDelivery], deliveries: [samples.delivery], next: null } },
      problems: ['forbidden'],
      input: ({ query }) => query,
    }),
    rpc: method({ name: 'deliveries.list', parameters: numberedListParameters, input: (range) => range }),
  }),
  operation(listDelivered, {
    ...{ id: 'listDelivered', tag: 'operations', changes: 'nothing' },
    summary: 'Lists outgoing messages that have arrived, newest first, with their attempts and receipts',
    http: route({
      ...{ method: 'get', path: '/v1/deliveries/delivered', query: numberedListQuery },
      answers: { 200: results.deliveredPage },
      examples: { answer: { delivered: [samples.deliveredMessage], next: null } },
      problems: ['forbidden'],
      input: ({ query }) => query,
    }),
    rpc: method({ name: 'deliveries.delivered', parameters: numberedListParameters, input: (range) => range }),
  }),
  operation(readDelivery, {
    ...{ id: 'readDelivery', tag: 'operations', changes: 'nothing' },
    summary: 'Returns an outgoing message that may not have arrived, with the text that was not sent',
    http: route({
      ...{ method: 'get', path: '/v1/deliveries/:seq' },
      answers: { 200: results.deliveryRead },
      examples: { answer: { ...samples.delivery, text, repeat: { isPossible: true, why: warning } } },
      problems: ['forbidden', 'not_found'],
      input: ({ path }) => seqOf(path),
    }),
    rpc: method({ name: 'deliveries.get', parameters: numberedParameters, input: (given) => given.seq }),
  }),
  operation(repeatDelivery, {
    ...{ id: 'repeatDelivery', tag: 'operations', changes: 'sessions' },
    summary: 'Has an outgoing message, or the rest of its parts, sent again; the receiver may get it twice',
    http: route({
      ...{ method: 'post', path: '/v1/deliveries/:seq/repeat', refusesBody: true },
      answers: { 200: results.deliveryRepeated },
      examples: { answer: { ...samples.delivery, command: samples.takenSample, warning } },
      problems: ['forbidden', 'not_found', 'not_resendable', 'session_unknown'],
      input: ({ path }) => seqOf(path),
    }),
    rpc: method({ name: 'deliveries.repeat', parameters: numberedParameters, input: (given) => given.seq }),
  }),
  operation(leaveDelivery, {
    ...{ id: 'leaveDelivery', tag: 'operations', changes: 'sessions' },
    summary: 'Leaves an outgoing message as it is, and removes it from the list; this is audited',
    http: route({
      ...{ method: 'post', path: '/v1/deliveries/:seq/leave', refusesBody: true },
      answers: { 200: results.deliveryLeft },
      examples: { answer: samples.delivery },
      problems: ['forbidden', 'not_found'],
      input: ({ path }) => seqOf(path),
    }),
    rpc: method({ name: 'deliveries.leave', parameters: numberedParameters, input: (given) => given.seq }),
  }),
  operation(resumeAccounts, {
    ...{ id: 'resumeAccounts', tag: 'operations', changes: 'sessions' },
    summary: 'Has the parked accounts of a channel, or one of them, tried again at once; this is audited',
    http: route({
      ...{ method: 'post', path: '/v1/deliveries/resume', body: resumeBody },
      answers: { 200: results.accountsResumed },
      examples: { body: { channel: 'telegram' }, answer: { accounts: [samples.parkedAccount] } },
      problems: ['forbidden', 'not_found'],
      input: ({ body }) => body,
    }),
    rpc: method({ name: 'deliveries.resume', parameters: resumeBody, input: (given) => given }),
  }),
];
