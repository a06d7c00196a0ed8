import { chatKey } from '../../access/chat-key.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import type { Operation } from '../../operation/operation.ts';
import * as samples from '../../operation/samples.ts';
import { streamDecision, streamMessage, streamResults } from '../../runs/follow-run.ts';
import { streamRun } from '../../runs/stream-run.ts';
import { aguiEvents } from './events.ts';
import { readAguiRequest, runInput } from './input.ts';

/** AG-UI 1.0; see `docs/integrate/ui-streams.md`. */
export const aguiOperations: readonly Operation[] = [
  {
    ...{ id: 'streamAguiRun', tag: 'user interfaces', changes: 'sessions' },
    summary: "Posts a person's message, or their answer to an interrupt, and streams the run as AG-UI events",
    http: {
      ...{ method: 'post', path: '/v1/agui', query: noQuery, body: runInput, takesFiles: true },
      answers: { 200: ['text/event-stream'] },
      examples: {
        body: {
          ...{ threadId: samples.key, runId: 'r-1' },
          messages: [{ id: 'm-1', role: 'user', content: 'Is the build green?' }],
        },
      },
      problems: [
        ...(['forbidden', 'not_found', 'session_busy', 'quarantined', 'damaged'] as const),
        ...(['results_forbidden', 'results_unexpected', 'results_incomplete'] as const),
        ...(['approval_forbidden', 'approval_unknown', 'approval_resolved', 'approval_expired'] as const),
      ],
      handle: async (context, request, reply) => {
        queryOf(noQuery, request);
        const given = readAguiRequest(request);
        const { threadId, runId, background } = given;
        const key = chatKey(context, request, threadId, 'threadId');
        const place = { key, frames: aguiEvents({ threadId, runId, sessionKey: key }) };
        return streamRun(context, request, reply, place, async (signal, take) => {
          if ('answer' in given) return streamDecision(context, request, { key, signal, ...given.answer }, take);
          if ('results' in given) {
            const { results, client } = given;
            return streamResults(context, request, { key, signal, results, client }, take);
          }
          return streamMessage(context, request, { key, signal, ...given.message, background }, take);
        });
      },
    },
  },
];
