import { z } from 'zod';
import { sessionsHistoryParameters, sessionsSendParameters } from '../../../shared/domain/projections/schemas.ts';
import { eventTypes } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import {
  afterParameter,
  beforeParameter,
  flagParameter,
  limitParameter,
  prefixParameter,
  typesParameter,
} from '../http/input.ts';
import { type Call, type Operation, operation, readOnly, tool } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route, sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { eventPage } from './event-page.ts';
import { type EventRequest, streamEvents } from './stream-events.ts';
import { waitForEvents } from './wait-for-events.ts';

/** Events: as a page, as a stream with `Accept: text/event-stream`, or one wait after the other for MCP clients. */

const allQuery = z.object({
  after: afterParameter.optional(),
  before: beforeParameter.optional(),
  limit: limitParameter(100),
  type: typesParameter,
  key: prefixParameter,
  event: z
    .enum(['message'], 'use "message", or leave it out')
    .optional()
    .meta({ description: 'of a stream: all frames are plain messages, for `onmessage` of an `EventSource`' }),
});
const sessionQuery = allQuery.omit({ key: true }).extend({ deltas: flagParameter });

const waitParameters = z.strictObject({
  after: z
    .string('use the "next" of an earlier answer, such as "17.2"')
    .pipe(afterParameter)
    .optional()
    .describe('Where to go on: "next" of an earlier answer, or the "id" of an event. Without it: what happens from now on.'),
  sessionKey: sessionsHistoryParameters.shape.sessionKey.optional(),
  types: z.array(z.enum(eventTypes)).min(1).max(eventTypes.length).optional().describe('Only events of these types.'),
  timeoutSeconds: sessionsSendParameters.shape.timeoutSeconds.describe('How long to wait while there is nothing.'),
});

const stream = 'text/event-stream';

const readPage = async ({ context, caller: { principal } }: Call, request: EventRequest) => {
  const admission = request.key && (await context.access.read(principal, request.key));
  const { row: last, after: since } = admission ?? { row: undefined, after: 0 };
  const { items: events, ...page } = await eventPage(context, principal, { since, last }, request);
  return { events, ...page };
};

export const eventOperations: readonly Operation[] = [
  operation(readPage, {
    ...{ id: 'readEvents', tag: 'events', changes: 'nothing' },
    summary:
      'Returns a page of events of all visible sessions (with `before`, newest first), or streams them with `Accept: text/event-stream`',
    http: route({
      ...{ method: 'get', path: '/v1/events', query: allQuery, headers: ['Last-Event-ID'], takesTicket: true },
      answers: { 200: [results.events, stream] },
      examples: { answer: { events: [samples.event], ...samples.page } },
      input: ({ query: { type: types, key: keyPrefix, ...query } }) => ({
        ...{ filter: { types, keyPrefix }, deltas: false, ...query },
      }),
      stream: streamEvents,
    }),
  }),
  operation(readPage, {
    ...{ id: 'readSessionEvents', tag: 'events', changes: 'nothing' },
    summary:
      'Returns a page of events of a session (with `before`, newest first), or streams them with `Accept: text/event-stream`',
    http: sessionRoute({
      ...{ method: 'get', path: '/events', query: sessionQuery, headers: ['Last-Event-ID'], takesTicket: true },
      answers: { 200: [results.events, stream] },
      examples: { answer: { events: [samples.event], ...samples.page } },
      problems: ['not_found', 'quarantined', 'damaged'],
      input: ({ key, query: { type: types, ...query } }) => ({ key, filter: { types }, ...query }),
      stream: streamEvents,
    }),
  }),
  operation(waitForEvents, {
    ...{ id: 'waitForEvents', tag: 'events', changes: 'nothing' },
    summary: 'Waits for the next events that the caller may see',
    mcp: tool({
      ...{ name: 'events_wait', parameters: waitParameters, annotations: readOnly },
      description:
        'Waits for what happens: messages, steps, tools, approvals. Call it again with "after" set to "next" and miss nothing.',
      input: ({ sessionKey, after, types, timeoutSeconds }, { config }) => ({
        key: sessionKey === undefined ? undefined : keyFrom(config, sessionKey),
        ...{ after, types, waitMs: timeoutSeconds * 1_000, limit: limits.waitedEvents },
      }),
      waitMs: ({ timeoutSeconds }) => timeoutSeconds,
    }),
  }),
];
