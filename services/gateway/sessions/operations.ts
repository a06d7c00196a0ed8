import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { sessionsListParameters, sessionsListResult } from '../../../shared/domain/projections/schemas.ts';
import { nextResetByCall, nextResetOf } from '../../../shared/domain/reset/reset.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { choiceParameter, limitParameter, minutesParameter, prefixParameter } from '../http/input.ts';
import type { ProblemCode } from '../http/problem.ts';
import { queueModeByCall } from '../messages/command-from-text.ts';
import { sendTagged } from '../operation/etag.ts';
import { type Call, method, type Operation, operation, readOnly, tool } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route, sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { deactivateSession, deleteSession, openSession, resetSession, stopSession } from './control.ts';
import { listRows, namesOf, shownRows, wideRow } from './list-rows.ts';
import { markRead, unreadFor } from './mark-read.ts';
import { conditional, emptyBody, keyIn, reading, sessionName, withoutKey, writing } from './parameters.ts';
import { patchBody, patchSession } from './patch.ts';

/** Sessions: the list of all, one as it is now, and what can be asked of it. */

export const listQuery = z.object({
  limit: limitParameter(50),
  cursor: z.string('give it once').optional(),
  activeMinutes: minutesParameter.optional(),
  status: z.enum(['idle', 'running', 'awaiting_approval', 'awaiting_results', 'inactive', 'all']).optional(),
  q: z
    .string('give it once')
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'only sessions whose key, name, description, first words or last message has this text' }),
  key: prefixParameter,
  label: z.string('give it once').min(1).max(64).optional().meta({ description: 'only sessions with this label' }),
  pinned: choiceParameter.meta({ description: 'only pinned sessions, or only others' }),
  failed: choiceParameter.meta({ description: 'only sessions whose last answer failed, or only others' }),
  unread: choiceParameter.meta({
    description: 'only sessions whose last message, of the last 30 days, the caller has not seen, or only others',
  }),
});
const listParameters = sessionsListParameters.extend({
  cursor: z.string().min(1).max(2_048).optional(),
  status: listQuery.shape.status,
  channel: z.string().min(1).max(64).optional(),
  failed: z.boolean().optional(),
  unread: z.boolean().optional(),
  /** Whole segments of the stored key's beginning, with or without the `:` after them. */
  keyPrefix: z
    .string()
    .min(1)
    .max(1_024)
    .transform((text) => text.replace(/:$/, ''))
    .optional(),
});
const reason = z.string().min(1).max(200).default('api');
const mode = z.enum(['session', 'key']).default('session');
const unread = z.boolean().default(false);
const readBody = z.strictObject({ unread });
export const reasonBody = z.strictObject({ reason });
export const deletion = z.object({ mode });

const taken = { 200: results.takenResult, 202: results.takenResult };

const named = (row: IndexRow, { config }: GatewayContext) => ({ ...row, ...namesOf(row, config) });

const readSession = async ({ context, caller }: Call, key: SessionKey) => {
  const indexedSeq = context.sessions.peek(key)?.seq ?? 0;
  const { row } = await context.access.read(caller.principal, key);
  const now = context.ports.clock.now();
  const isUnread = await unreadFor(context, caller);
  return {
    ...{ ...named(row, context), unread: isUnread(row), indexedSeq },
    nextReset: nextResetOf(row, context.config.session, now),
    nextResetByCall: nextResetByCall(row, context.config.session, now),
    queueModeByCall: queueModeByCall(row, context.config),
  };
};

/** How a session is asked for something, with a reason. */
const withReason = (path: string, reason: string, problem: ProblemCode) =>
  sessionRoute({
    ...{ method: 'post', path, headers: conditional, body: reasonBody },
    answers: taken,
    examples: { body: { reason }, answer: samples.takenSample },
    problems: [...writing, problem],
    input: ({ body, ...given }) => ({ ...given, ...body }),
    output: withoutKey,
  });

export const sessionOperations: readonly Operation[] = [
  operation(listRows, {
    ...{ id: 'listSessions', tag: 'sessions', changes: 'nothing' },
    summary: 'Lists the sessions that the caller may see, newest first',
    http: route({
      ...{ method: 'get', path: '/v1/sessions', query: listQuery },
      answers: { 200: results.sessions },
      examples: { answer: { sessions: [samples.sessionRow], nextCursor: null } },
      input: ({ query: { q: search, key: keyPrefix, ...filter } }) => ({ ...filter, search, keyPrefix }),
      output: async ({ rows, nextCursor }, _, { context, caller }) => {
        const isUnread = await unreadFor(context, caller);
        return { sessions: rows.map((row) => ({ ...named(row, context), unread: isUnread(row) })), nextCursor };
      },
    }),
    rpc: method({
      ...{ name: 'sessions.list', parameters: listParameters },
      input: ({ messageLimit: _, ...filter }) => filter,
      output: async ({ rows, nextCursor }, { messageLimit }, call) => {
        const shown = await shownRows(call, rows, messageLimit);
        const isUnread = await unreadFor(call.context, call.caller);
        const { config } = call.context;
        return { sessions: shown.map((each) => ({ ...wideRow(each, config), unread: isUnread(each.row) })), nextCursor };
      },
    }),
    mcp: tool({
      ...{ name: 'sessions_list', parameters: sessionsListParameters, result: sessionsListResult, annotations: readOnly },
      description: 'Lists the sessions (conversations) you may see, the last active first, on request with their last messages.',
      input: ({ messageLimit: _, ...filter }) => filter,
      output: async ({ rows }, { messageLimit }, call) => {
        const shown = await shownRows(call, rows, messageLimit);
        return { count: shown.length, sessions: shown.map((row) => row.shown) };
      },
    }),
  }),
  operation(readSession, {
    ...{ id: 'readSession', tag: 'sessions', changes: 'nothing' },
    summary: 'Returns a session as it is now',
    http: sessionRoute({
      ...{ method: 'get', path: '', headers: ['If-None-Match'] },
      answers: { 200: results.session, 304: [] },
      examples: {
        answer: {
          ...{ ...samples.sessionRow, indexedSeq: 42 },
          nextReset: { rule: 'session.resetByChannel.telegram', due: true, timeZone: 'UTC', idleAt: 1_770_000_000_000 },
          nextResetByCall: { rule: 'session.reset', due: false, timeZone: 'UTC', dailyAt: 1_770_004_800_000 },
          queueModeByCall: 'followup',
        },
      },
      problems: reading,
      input: ({ key }) => key,
      send: (reply, session) => sendTagged(reply, session.seq, session),
    }),
  }),
  operation(patchSession, {
    ...{ id: 'patchSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Changes settings of a session; `null` unsets one',
    http: sessionRoute({
      ...{ method: 'patch', path: '', headers: conditional, body: patchBody },
      answers: { 200: results.patched, 202: results.patched },
      examples: {
        body: { displayName: 'Build room', model: null },
        answer: { key: samples.key, ...samples.takenSample, settings: { displayName: 'Build room' } },
      },
      problems: [...writing, 'session_unknown'],
      input: ({ body: changes, ...given }) => ({ ...given, changes, whole: 'body' }),
    }),
    rpc: method({
      ...{ name: 'sessions.patch', parameters: z.strictObject({ key: sessionName, ...patchBody.shape }) },
      input: ({ key, ...changes }, context) => ({ key: keyIn(key, context), changes, whole: 'params' }),
    }),
  }),
  operation(resetSession, {
    ...{ id: 'resetSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Starts a new generation under the same key',
    http: sessionRoute({
      ...{ method: 'post', path: '/reset', headers: conditional, body: reasonBody },
      answers: taken,
      examples: { body: { reason: 'new topic' }, answer: samples.takenSample },
      problems: [...writing, 'session_unknown'],
      input: ({ body, ...given }) => ({ ...given, ...body, mustExist: false }),
      output: withoutKey,
    }),
    rpc: method({
      ...{ name: 'sessions.reset', parameters: z.strictObject({ key: sessionName, reason }) },
      input: ({ key, ...given }, context) => ({ key: keyIn(key, context), ...given, mustExist: true }),
    }),
  }),
  operation(deleteSession, {
    ...{ id: 'deleteSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Deletes a session; its next message starts a new one',
    http: sessionRoute({
      ...{ method: 'delete', path: '', query: deletion, headers: conditional, refusesBody: true },
      answers: taken,
      examples: { answer: samples.takenSample },
      problems: [...writing, 'session_unknown', 'session_busy', 'session_retained'],
      input: ({ query, ...given }) => ({ ...given, ...query, reason: 'api' }),
      output: withoutKey,
    }),
    rpc: method({
      ...{ name: 'sessions.delete', parameters: z.strictObject({ key: sessionName, mode, reason }) },
      input: ({ key, ...given }, context) => ({ key: keyIn(key, context), ...given }),
    }),
  }),
  operation(openSession, {
    ...{ id: 'openSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Creates a session, or makes an inactive one visible',
    http: sessionRoute({
      ...{ method: 'post', path: '/open', headers: conditional, body: emptyBody },
      answers: taken,
      examples: { body: {}, answer: samples.takenSample },
      problems: writing,
      input: (given) => given,
      output: withoutKey,
    }),
  }),
  operation(deactivateSession, {
    ...{ id: 'deactivateSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Puts a session at rest aside: lists leave it out until it is opened or written to',
    http: withReason('/deactivate', 'done', 'session_busy'),
  }),
  operation(markRead, {
    ...{ id: 'markRead', tag: 'sessions', changes: 'nothing' },
    summary: 'Notes that the caller has seen a session, or with `unread` that they have not; nobody else sees it',
    http: sessionRoute({
      ...{ method: 'post', path: '/read', body: readBody },
      answers: { 200: results.readMarked },
      examples: { body: {}, answer: { key: samples.key, unread: false } },
      problems: reading,
      input: ({ key, body }) => ({ key, ...body }),
    }),
    rpc: method({
      ...{ name: 'sessions.read', parameters: z.strictObject({ key: sessionName, unread }) },
      input: ({ key, ...given }, context) => ({ key: keyIn(key, context), ...given }),
    }),
  }),
  operation(stopSession, {
    ...{ id: 'stopSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Stops the running turn and clears the queue',
    http: withReason('/stop', 'enough', 'stop_forbidden'),
  }),
];
