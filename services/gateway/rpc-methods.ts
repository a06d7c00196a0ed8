import { z } from 'zod';
import { seesAll } from '../../shared/domain/access/access.ts';
import { sessionsHistoryParameters } from '../../shared/domain/projections/schemas.ts';
import { nextResetOf } from '../../shared/domain/reset/reset.ts';
import { dangers } from '../../shared/domain/routing/dm-safety.ts';
import { overviewOf } from './overview.ts';
import { type Methods, method, reading } from './rpc.ts';
import { approvalsList, approvalsListParameters, approvalsResolve, approvalsResolveParameters } from './rpc-approvals.ts';
import {
  memoryForget,
  memoryForgetParameters,
  memoryGet,
  memoryGetParameters,
  memoryList,
  memoryListParameters,
} from './rpc-memory.ts';
import {
  agent,
  agentParameters,
  chatSend,
  chatSendParameters,
  compactParameters,
  compactSession,
  wait,
  waitParameters,
} from './rpc-runs.ts';
import {
  checkpointParameters,
  checkpointSession,
  deleteParameters,
  deleteSession,
  forkParameters,
  forkSession,
  listParameters,
  listSessions,
  patchParameters,
  patchSession,
  resetParameters,
  resetSession,
} from './rpc-sessions.ts';
import { sessionsHistory } from './session-tools/history.ts';
import { listRows } from './session-tools/list.ts';

const recentSessions = 5;

/** All methods by name (A12/131). */
export const methods: Methods = {
  'sessions.list': reading(listParameters, listSessions),
  'sessions.patch': method(patchParameters, patchSession),
  'sessions.reset': method(resetParameters, resetSession),
  'sessions.delete': method(deleteParameters, deleteSession),
  'sessions.checkpoint': method(checkpointParameters, checkpointSession),
  'sessions.fork': method(forkParameters, forkSession),
  'sessions.compact': method(compactParameters, compactSession, ({ timeoutSeconds }) => timeoutSeconds),
  'approvals.list': reading(approvalsListParameters, approvalsList),
  'approvals.resolve': method(approvalsResolveParameters, approvalsResolve, undefined, 'approvals'),
  'memory.list': reading(memoryListParameters, memoryList),
  'memory.get': reading(memoryGetParameters, memoryGet),
  'memory.forget': method(memoryForgetParameters, memoryForget),
  'chat.history': reading(
    sessionsHistoryParameters.extend({ includeTools: z.boolean().default(true) }),
    ({ context, asker }, parameters) => sessionsHistory(context, asker, parameters),
  ),
  'chat.send': method(chatSendParameters, chatSend),
  agent: method(agentParameters, agent, ({ timeoutSeconds }) => timeoutSeconds),
  'agent.wait': reading(waitParameters, wait, ({ timeoutMs }) => timeoutMs),
  /**
   * Whether the system is ready, the most recent sessions and when each is reset next (A12/128, A4/43). The owner is also told where the
   * data and its mirror are, what is dangerous about the configuration (A3/31), and how all of the system is.
   */
  status: reading(z.strictObject({}), async ({ context, asker }) => {
    const problems = context.problems();
    const { sessions } = await listRows(context, asker, { limit: recentSessions, messageLimit: 0 });
    const { session, dataDir } = context.config;
    const { store } = session;
    const isOwner = seesAll(asker.principal);
    const now = context.ports.clock.now();
    return {
      status: problems.length === 0 ? 'ready' : 'unavailable',
      problems,
      version: context.version,
      ...(isOwner && {
        ...(store !== undefined && { store }),
        dataDir,
        dangers: dangers(context.config),
        warnings: context.warnings(),
        ...(await overviewOf(context)),
      }),
      sessions: sessions.map(({ row, shown }) => ({ ...shown, nextReset: nextResetOf(row, session, now) })),
    };
  }),
};
