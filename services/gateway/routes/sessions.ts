import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { IndexRow } from '../../../shared/domain/projections/summary.ts';
import { nextResetOf } from '../../../shared/domain/reset/reset.ts';
import type { GatewayContext } from '../context.ts';
import { afterCommit, logPosition } from '../cursor.ts';
import { sendTagged } from '../etag.ts';
import { pageOf } from '../history.ts';
import { afterParameter, keyOf, limitParameter, minutesParameter, momentParameter, noQuery, queryOf } from '../input.ts';
import { queueModeOf } from '../said.ts';
import { stateAt } from '../state.ts';
import { changesBetween } from '../time-travel.ts';

export const listQuery = z.object({
  limit: limitParameter(50),
  cursor: z.string('give it once').optional(),
  activeMinutes: minutesParameter.optional(),
  status: z.enum(['idle', 'running', 'awaiting_approval', 'inactive', 'all']).optional(),
});
export const commitsQuery = z.object({ after: afterParameter.optional(), limit: limitParameter(100) });
export const stateQuery = z.object({ at: momentParameter.optional() });
export const diffQuery = z.object({ from: momentParameter, to: momentParameter.optional(), limit: limitParameter(100) });

/** `GET /v1/sessions`, `/v1/sessions/{key}` and its `/commits`, `/state` and `/diff`: what is recorded, in five forms. */
export const sessionRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const { ports, sessions, access, replays } = context;
  const withMode = (row: IndexRow) => ({ ...row, queueMode: queueModeOf(row, context.config.session) });

  const inPast = async <T>({ actor }: FastifyRequest, work: () => Promise<T>): Promise<T> => {
    const done = replays.take(actor);
    try {
      return await work();
    } finally {
      done();
    }
  };

  app.get('/v1/sessions', async (request, reply) => {
    const { activeMinutes, ...options } = queryOf(listQuery, request);
    const since = activeMinutes === undefined ? undefined : ports.clock.now() - activeMinutes * 60_000;
    const { rows, nextCursor } = sessions.list({ ...options, since, reach: access.reach(request.principal) });
    return reply.send({ sessions: rows.map(withMode), nextCursor });
  });

  app.get('/v1/sessions/:key', async (request, reply) => {
    const key = keyOf(context.config, request);
    queryOf(noQuery, request);
    const indexedSeq = sessions.peek(key)?.seq ?? 0;
    const { row } = await access.read(request.principal, key);
    const nextReset = nextResetOf(row, context.config.session, ports.clock.now());
    return sendTagged(request, reply, row.seq, { ...withMode(row), indexedSeq, nextReset });
  });

  app.get('/v1/sessions/:key/commits', async (request, reply) => {
    const key = keyOf(context.config, request);
    const { after = afterCommit(0), limit } = queryOf(commitsQuery, request);
    const seen = await access.read(request.principal, key);
    const from = Math.max(seen.after, logPosition(after));
    const page = await pageOf(ports.events, { after, limit, from, key }, (commit) => [
      { cursor: afterCommit(commit.seq), item: commit },
    ]);
    return reply.send({ commits: page.items, next: page.next, more: page.more });
  });

  app.get('/v1/sessions/:key/state', async (request, reply) => {
    const key = keyOf(context.config, request);
    const { at } = queryOf(stateQuery, request);
    const { after: since } = await access.read(request.principal, key);
    const answer = () => stateAt(ports, key, at, since);
    const state = at === undefined ? await answer() : await inPast(request, answer);
    return sendTagged(request, reply, state.position.seq, state);
  });

  app.get('/v1/sessions/:key/diff', async (request, reply) => {
    const key = keyOf(context.config, request);
    const span = queryOf(diffQuery, request);
    const { after: since } = await access.read(request.principal, key);
    return reply.send(await inPast(request, () => changesBetween(ports, key, { ...span, since })));
  });
};
