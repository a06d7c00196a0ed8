import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../../../../shared/kit/errors.ts';
import { chatKey } from '../../access/chat-key.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import type { Operation } from '../../operation/operation.ts';
import * as samples from '../../operation/samples.ts';
import { runningTurn, streamDecision, streamMessage, streamResults } from '../../runs/follow-run.ts';
import { endedEntries } from '../../runs/run-history.ts';
import { streamRun } from '../../runs/stream-run.ts';
import { type AguiHead, aguiEvents, aguiHistory } from './events.ts';
import { readAguiRequest, runInput } from './input.ts';
import { aguiMessages } from './messages.ts';

/** How many messages and answers a page that is loaded again gets. */
const reloadedEntries = 100;

/** The thread as it is, and the run that goes on in it. One that is not there yet, and that the caller may begin, is empty. */
const reload = async (context: GatewayContext, request: FastifyRequest, reply: FastifyReply, head: AguiHead) => {
  const { sessionKey: key } = head;
  const running = await runningTurn(context, request, key);
  const entries = await endedEntries({ context, caller: request }, { key, limit: reloadedEntries }).catch((error: unknown) => {
    if (hasCode(error, 'not_found')) return [];
    throw error;
  });
  const frames = aguiHistory(head, aguiMessages(entries), running === null);
  return streamRun(context, request, reply, { key, frames }, running?.stream ?? (async (_, take) => take([])));
};

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
        const head = { threadId, runId, sessionKey: key };
        if ('isReload' in given) return reload(context, request, reply, head);
        const place = { key, frames: aguiEvents(head) };
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
