import { waitedFor } from '../../../shared/domain/projections/run.ts';
import type { SessionsSendParameters, SessionsSendResult } from '../../../shared/domain/projections/schemas.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import type { Asker } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import { post } from '../posting.ts';

/** `sessions_send` (A10/117–121): a message for a session and, if the caller waits, its answer. `signal` ends the wait, never the run. */
export const sessionsSend = async (
  context: GatewayContext,
  asker: Asker,
  { sessionKey, message, timeoutSeconds, idempotencyKey }: SessionsSendParameters & { idempotencyKey?: string | undefined },
  signal: AbortSignal,
): Promise<SessionsSendResult> => {
  const key = keyFrom(context.config, sessionKey);
  const waitMs = timeoutSeconds * 1_000;
  const { run } = await post(context, asker, { key, text: message, idempotencyKey, literal: true, waitMs, signal });
  return waitMs === 0 ? { runId: run.runId, status: 'accepted' } : waitedFor(run);
};
