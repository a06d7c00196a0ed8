import { chatKey } from '../../access/chat-key.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import type { Operation } from '../../operation/operation.ts';
import * as samples from '../../operation/samples.ts';
import { runIdFor, runningTurn, streamDecision, streamMessage, streamResults } from '../../runs/follow-run.ts';
import { streamRun } from '../../runs/stream-run.ts';
import { uiChunks } from './chunks.ts';
import { readUiRequest, uiChatBody } from './input.ts';

/** The UI message stream of the AI SDK 6; see `docs/integrate/ui-streams.md`. */

const stream = ['text/event-stream'] as const;

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
        const messageId = 'message' in given ? runIdFor(request, { key, ...given.message }) : given.messageId;
        const place = { key, frames: uiChunks(key, messageId) };
        return streamRun(context, request, reply, place, (signal, take) => {
          if ('answer' in given) return streamDecision(context, request, { key, signal, ...given.answer }, take);
          if ('message' in given) return streamMessage(context, request, { key, signal, ...given.message }, take);
          const { results, client } = given;
          return streamResults(context, request, { key, signal, results, client }, take);
        });
      },
    },
  },
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
