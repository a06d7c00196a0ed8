import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import { waitedFor } from '../../../shared/domain/projections/run.ts';
import { sessionsSendParameters } from '../../../shared/domain/projections/schemas.ts';
import { waitParameter } from '../http/input.ts';
import { method, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { checkpoint } from './checkpoint.ts';
import { compact, instructions } from './compact.ts';
import { fork, forkBody } from './fork.ts';
import { conditional, emptyBody, keyIn, sessionName, writing } from './parameters.ts';

/** What becomes of a session's context: a checkpoint of it, a summary in its place, or a new generation from an earlier point. */

export const compactBody = z.strictObject({ instructions });
const waitQuery = z.object({ wait: waitParameter });
const timeoutSeconds = sessionsSendParameters.shape.timeoutSeconds.unwrap().default(0);

export const contextOperations: readonly Operation[] = [
  operation(checkpoint, {
    ...{ id: 'checkpointSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Requests a checkpoint of what was said since the last one',
    http: sessionRoute({
      ...{ method: 'post', path: '/checkpoint', headers: conditional, body: emptyBody },
      answers: { 202: results.checkpointResult },
      examples: { body: {}, answer: { ...samples.takenSample, requested: true } },
      problems: [...writing, 'session_unknown', 'introspection_disabled'],
      input: (given) => given,
    }),
    rpc: method({
      ...{ name: 'sessions.checkpoint', parameters: z.strictObject({ key: sessionName }) },
      input: ({ key }, context) => ({ key: keyIn(key, context) }),
      output: (result, { key }, { context }) => ({ key: keyIn(key, context), ...result }),
    }),
  }),
  operation(fork, {
    ...{ id: 'forkSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Starts a new generation from an earlier point',
    http: sessionRoute({
      ...{ method: 'post', path: '/fork', headers: conditional, body: forkBody },
      answers: { 200: results.forked, 202: results.forked },
      examples: {
        body: { atSeq: 30 },
        answer: { key: samples.key, ...samples.takenSample, sessionId: samples.sessionId, generation: 2 },
      },
      problems: [...writing, 'session_unknown', 'fork_invalid', 'erased', 'history_too_long'],
      input: ({ body: { reason, ...place }, ...given }) => ({ ...given, place, reason }),
    }),
    rpc: method({
      ...{ name: 'sessions.fork', parameters: forkBody.extend({ key: sessionName }) },
      input: ({ key, reason, ...place }, context) => ({ key: keyIn(key, context), place, reason }),
    }),
  }),
  operation(compact, {
    ...{ id: 'compactSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Replaces what was said so far with a summary',
    http: sessionRoute({
      ...{ method: 'post', path: '/compact', query: waitQuery, headers: conditional, body: compactBody },
      answers: { 200: results.begunRun, 202: results.begunRun },
      examples: { body: { instructions: 'keep the decisions' }, answer: samples.runSample },
      problems: writing,
      input: ({ query, body, ...given }) => ({ ...given, ...body, waitMs: query.wait * 1_000 }),
      waitMs: ({ query }) => query.wait * 1_000,
      output: ({ run, duplicate }, { query }) => (query.wait > 0 ? run : { ...run, duplicate }),
    }),
    rpc: method({
      ...{ name: 'sessions.compact', parameters: z.strictObject({ key: sessionName, instructions, timeoutSeconds }) },
      input: (given, context) => {
        const key = keyIn(given.key, context);
        return { key, instructions: given.instructions, runId: runIdOf(key, uuidv7()), waitMs: given.timeoutSeconds * 1_000 };
      },
      waitMs: (given) => given.timeoutSeconds * 1_000,
      output: ({ run }, given) => (given.timeoutSeconds === 0 ? { runId: run.runId, status: 'accepted' } : waitedFor(run)),
    }),
  }),
];
