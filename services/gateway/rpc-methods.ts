import { z } from 'zod';
import { nextResetOf } from '../../shared/policy/reset.ts';
import { sessionsHistoryParameters } from '../../shared/session-tools/schemas.ts';
import { type Methods, method } from './rpc.ts';
import { agent, agentParameters, chatSend, chatSendParameters, wait, waitParameters } from './rpc-runs.ts';
import {
  deleteParameters,
  deleteSession,
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
  'sessions.list': method(listParameters, listSessions),
  'sessions.patch': method(patchParameters, patchSession),
  'sessions.reset': method(resetParameters, resetSession),
  'sessions.delete': method(deleteParameters, deleteSession),
  'chat.history': method(
    sessionsHistoryParameters.extend({ includeTools: z.boolean().default(true) }),
    ({ context, asker }, parameters) => sessionsHistory(context, asker, parameters),
  ),
  'chat.send': method(chatSendParameters, chatSend),
  agent: method(agentParameters, agent, ({ timeoutSeconds }) => timeoutSeconds),
  'agent.wait': method(waitParameters, wait, ({ timeoutMs }) => timeoutMs),
  /** Whether the system is ready, where its mirror is, the most recent sessions and when each is reset next (A12/128, A4/43). */
  status: method(z.strictObject({}), async ({ context, asker }) => {
    const problems = context.problems();
    const { sessions } = await listRows(context, asker, { limit: recentSessions, messageLimit: 0 });
    const { session } = context.config;
    const { store } = session;
    const now = context.ports.clock.now();
    return {
      status: problems.length === 0 ? 'ready' : 'unavailable',
      problems,
      version: context.version,
      ...(store !== undefined && { store }),
      sessions: sessions.map(({ row, shown }) => ({ ...shown, nextReset: nextResetOf(row, session, now) })),
    };
  }),
};
