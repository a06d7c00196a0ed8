import { z } from 'zod';
import { numberedListParameters, numberedListQuery, numberedParameters, seq, sequenceIn } from '../operation/numbered.ts';
import { method, type Operation, operation } from '../operation/operation.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { discardDeadLetter, listDeadLetters, readDeadLetter, resendDeadLetter } from './dead-letters.ts';
import * as results from './results.ts';

/** Dead letters, for operators. Not for MCP: a model must not decide what is done with what people wrote to others. */

const reason = z.string('say why, once').trim().min(1, 'is empty; say why').max(500);
const discardQuery = z.object({ reason });
const discardParameters = z.strictObject({ seq, reason });

const seqOf = sequenceIn('dead letter');

const example = { answer: samples.deadLetter };
const unknownYet = { wouldRepeat: false, why: `nothing was ever recorded of ${samples.key}` };

export const deadLetterOperations: readonly Operation[] = [
  operation(listDeadLetters, {
    ...{ id: 'listDeadLetters', tag: 'operations', changes: 'nothing' },
    summary: 'Lists messages that nobody could process, newest first',
    http: route({
      ...{ method: 'get', path: '/v1/dead-letters', query: numberedListQuery },
      answers: { 200: results.deadLetters },
      examples: { answer: { deadLetters: [samples.deadLetter], next: null } },
      problems: ['forbidden'],
      input: ({ query }) => query,
    }),
    rpc: method({ name: 'deadLetters.list', parameters: numberedListParameters, input: (range) => range }),
  }),
  operation(readDeadLetter, {
    ...{ id: 'readDeadLetter', tag: 'operations', changes: 'nothing' },
    summary: 'Returns a dead letter with its message, and what a resend would do',
    http: route({
      ...{ method: 'get', path: '/v1/dead-letters/:seq' },
      answers: { 200: results.deadLetterRead },
      examples: { answer: { ...samples.deadLetter, message: null, bytes: 'wf8=', resend: { isPossible: true, ...unknownYet } } },
      problems: ['forbidden', 'not_found'],
      input: ({ path }) => seqOf(path),
    }),
    rpc: method({ name: 'deadLetters.get', parameters: numberedParameters, input: (given) => given.seq }),
  }),
  operation(resendDeadLetter, {
    ...{ id: 'resendDeadLetter', tag: 'operations', changes: 'sessions' },
    summary: 'Puts the message of a dead letter back into its queue, and removes the letter',
    http: route({
      ...{ method: 'post', path: '/v1/dead-letters/:seq/resend', refusesBody: true },
      answers: { 200: results.deadLetterResent },
      examples: { answer: { ...samples.deadLetter, ...unknownYet, duplicate: false } },
      problems: ['forbidden', 'not_found', 'not_resendable'],
      input: ({ path }) => seqOf(path),
    }),
    rpc: method({ name: 'deadLetters.resend', parameters: numberedParameters, input: (given) => given.seq }),
  }),
  operation(discardDeadLetter, {
    ...{ id: 'discardDeadLetter', tag: 'operations', changes: 'sessions' },
    summary: 'Removes a dead letter for good; the reason is audited',
    http: route({
      ...{ method: 'delete', path: '/v1/dead-letters/:seq', query: discardQuery },
      answers: { 200: results.deadLetterDiscarded },
      examples: example,
      problems: ['forbidden', 'not_found'],
      input: ({ path, query }) => ({ seq: seqOf(path), ...query }),
    }),
    rpc: method({ name: 'deadLetters.discard', parameters: discardParameters, input: (given) => given }),
  }),
];
