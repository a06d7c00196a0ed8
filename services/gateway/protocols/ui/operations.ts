import { z } from 'zod';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { chatKey } from '../../access/chat-key.ts';
import type { Caller } from '../../commands/envelope.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { limitParameter, noQuery, queryOf } from '../../http/input.ts';
import { type Operation, operation } from '../../operation/operation.ts';
import { route } from '../../operation/route.ts';
import * as samples from '../../operation/samples.ts';
import { runIdFor, runningTurn, streamDecision, streamKnownRun, streamMessage, streamResults } from '../../runs/follow-run.ts';
import { rewindTo } from '../../runs/rewind.ts';
import { streamRun } from '../../runs/stream-run.ts';
import { uiChunks } from './chunks.ts';
import { readUiRequest, type SaidByPage, uiChatBody } from './input.ts';
import { uiMessages } from './messages.ts';

/** The UI message stream of the AI SDK 6; see `docs/integrate/ui-streams.md`. */

const stream = ['text/event-stream'] as const;
const pageQuery = z.object({ limit: limitParameter(100) });
const uiMessagesResult = z.object({
  messages: z.array(
    z.looseObject({ id: z.string(), role: z.enum(['user', 'assistant']), parts: z.array(z.looseObject({ type: z.string() })) }),
  ),
});

/** The message where it is to be said, or the run of one that was said already. */
const placed = async (context: GatewayContext, caller: Caller, key: SessionKey, { message, again }: SaidByPage) => {
  if (again === undefined) return { message };
  const there = await rewindTo({ context, caller, signal: new AbortController().signal }, { key, message, ...again });
  return 'runId' in there ? { ...there, messageId: there.runId } : there;
};

export const uiOperations: readonly Operation[] = [
  {
    ...{ id: 'streamUiChat', tag: 'user interfaces', changes: 'sessions' },
    summary: "Posts a person's message, or their answer to an approval, and streams the run as chunks of the AI SDK",
    http: {
      ...{ method: 'post', path: '/v1/ui/chat', query: noQuery, body: uiChatBody, takesFiles: true },
      answers: { 200: stream },
      examples: {
        body: {
          id: samples.key,
          messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Is the build green?' }] }],
        },
      },
      problems: [
        ...(['forbidden', 'not_found', 'unsupported', 'session_busy', 'quarantined', 'damaged'] as const),
        ...(['results_forbidden', 'results_unexpected', 'results_incomplete'] as const),
        ...(['approval_forbidden', 'approval_unknown', 'approval_resolved', 'approval_expired'] as const),
      ],
      handle: async (context, request, reply) => {
        queryOf(noQuery, request);
        const given = readUiRequest(request);
        const key = chatKey(context, request, given.id, 'id');
        const said = 'message' in given ? await placed(context, request, key, given) : given;
        const messageId = 'message' in said ? runIdFor(request, { key, ...said.message }) : said.messageId;
        const place = { key, frames: uiChunks(key, messageId) };
        return streamRun(context, request, reply, place, (signal, take) => {
          if ('message' in said) return streamMessage(context, request, { key, signal, ...said.message }, take);
          if ('runId' in said) return streamKnownRun(context, request, { key, signal, ...said }, take);
          if ('answer' in said) return streamDecision(context, request, { key, signal, ...said.answer }, take);
          const { results, client } = said;
          return streamResults(context, request, { key, signal, results, client }, take);
        });
      },
    },
  },
  operation(uiMessages, {
    ...{ id: 'readUiChat', tag: 'user interfaces', changes: 'nothing' },
    summary: 'Returns what was said in a chat as messages of the AI SDK, oldest first',
    http: route({
      ...{ method: 'get', path: '/v1/ui/chat/:id/messages', query: pageQuery },
      answers: { 200: uiMessagesResult },
      examples: { answer: { messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Is the build green?' }] }] } },
      problems: ['forbidden', 'not_found', 'quarantined', 'damaged'],
      input: ({ path: { id = '' }, query: { limit } }, context, request) => ({ key: chatKey(context, request, id, 'id'), limit }),
    }),
  }),
  {
    ...{ id: 'resumeUiChat', tag: 'user interfaces', changes: 'nothing' },
    summary: 'Streams the running turn of a chat from its beginning; 204 without one',
    http: {
      ...{ method: 'get', path: '/v1/ui/chat/:id/stream', query: noQuery, hasNoHead: true },
      answers: { 200: stream, 204: [] },
      problems: ['forbidden', 'not_found', 'quarantined', 'damaged'],
      handle: async (context, request, reply) => {
        queryOf(noQuery, request);
        const key = chatKey(context, request, (request.params as { id: string }).id, 'id');
        const running = await runningTurn(context, request, key);
        if (running === null) return reply.code(204).send();
        const place = { key, frames: uiChunks(key, running.runId) };
        return streamRun(context, request, reply, place, running.stream);
      },
    },
  },
];
