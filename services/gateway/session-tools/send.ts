import { assertNever } from '../../../shared/kit/assert.ts';
import type { SessionsSendParameters, SessionsSendResult } from '../../../shared/session-tools/schemas.ts';
import type { Asker } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import { keyFrom } from '../named-session.ts';
import { post } from '../posting.ts';
import type { Run } from '../runs.ts';

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

/** What a caller who has waited is told: the end, or that it has not come yet. */
export const waitedFor = (run: Run): SessionsSendResult => {
  const { runId } = run;
  switch (run.status) {
    case 'ok':
    case 'error':
    case 'timeout':
      return run;
    case 'accepted':
    case 'scheduled':
    case 'queued':
    case 'running': {
      const message = `the run is ${run.status} and goes on; wait again, or read the history later`;
      return { runId, status: 'timeout', error: { code: 'timeout', message } };
    }
    default:
      return assertNever(run);
  }
};
