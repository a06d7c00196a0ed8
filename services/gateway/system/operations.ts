import { z } from 'zod';
import { seesAll } from '../../../shared/domain/access/access.ts';
import { nextResetOf } from '../../../shared/domain/reset/reset.ts';
import { dangers } from '../../../shared/domain/routing/dm-safety.ts';
import { healthCodes, type Readiness, readinessOf } from '../../../shared/kit/health-problem.ts';
import { notByLink } from '../context/access.ts';
import { type Call, method, type Operation, operation } from '../operation/operation.ts';
import { route } from '../operation/route.ts';
import { listRows, shownRows } from '../sessions/list-rows.ts';
import { overviewOf } from './overview.ts';

/** How the process and the system are doing: for people, orchestrators and Prometheus. */

const recentSessions = 5;

const health = z.object({
  status: z.enum(['alive', 'ready', 'unavailable']),
  version: z.string().optional(),
  problems: z.array(z.string()).optional(),
  details: z
    .array(z.object({ code: z.enum(healthCodes), message: z.string(), fix: z.string() }))
    .optional()
    .describe('the same problems with their codes and what to do'),
});

/**
 * Whether the system is ready, the most recent sessions and when each is reset next (A12/128, A4/43). The owner is also told where the data
 * and its mirror are, what is dangerous about the configuration (A3/31), and how the whole system is doing.
 */
const readStatus = async (call: Call, _: null) => {
  const { context, caller } = call;
  const { session, dataDir } = context.config;
  const { rows } = await listRows(call, { limit: recentSessions });
  const recent = await shownRows(call, rows);
  const { store } = session;
  const isOwner = seesAll(caller.principal);
  const now = context.ports.clock.now();
  return {
    ...readinessOf(context.problems()),
    version: context.version,
    ...(isOwner && {
      ...(store !== undefined && { store }),
      dataDir,
      dangers: dangers(context.config),
      warnings: context.warnings(),
      ...(await overviewOf(context)),
    }),
    sessions: recent.map(({ row, shown }) => ({ ...shown, nextReset: nextResetOf(row, session, now) })),
  };
};

export const systemOperations: readonly Operation[] = [
  operation(readStatus, {
    ...{ id: 'status', tag: 'operations', changes: 'nothing' },
    summary: 'Returns the health of the system and its most recent sessions',
    rpc: method({ name: 'status', parameters: z.strictObject({}), input: () => null }),
  }),
  operation(({ context }: Call, _: null) => ({ status: 'alive', version: context.version }), {
    ...{ id: 'live', tag: 'operations', changes: 'nothing' },
    summary: 'Liveness: the process is running',
    http: route({
      ...{ method: 'get', path: '/livez', isOpen: true },
      answers: { 200: health },
      examples: { answer: { status: 'alive', version: '0.1.0' } },
      input: () => null,
    }),
  }),
  operation(({ context }: Call, _: null) => readinessOf(context.problems()), {
    ...{ id: 'ready', tag: 'operations', changes: 'nothing' },
    summary: 'Readiness: whether the gateway can serve, and why not',
    http: route({
      ...{ method: 'get', path: '/readyz', isOpen: true },
      answers: { 200: health, 503: health },
      examples: { answer: { status: 'ready', problems: [], details: [] } },
      input: () => null,
      send: (reply, readiness: Readiness) =>
        readiness.status === 'ready' ? reply.send(readiness) : reply.code(503).header('retry-after', 1).send(readiness),
    }),
  }),
  operation(
    async ({ context: { metrics } }: Call, _: null) => ({ contentType: metrics.contentType, text: await metrics.text() }),
    {
      ...{ id: 'metrics', tag: 'operations', changes: 'nothing' },
      summary: 'Returns the metrics of the process in the Prometheus text format',
      http: route({
        ...{ method: 'get', path: '/metrics' },
        answers: { 200: ['text/plain'] },
        problems: ['forbidden'],
        permit: (principal) => notByLink(principal, 'metrics'),
        input: () => null,
        send: (reply, { contentType, text }) => reply.type(contentType).send(text),
      }),
    },
  ),
];
