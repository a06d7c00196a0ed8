import { waitedFor } from '../../../shared/domain/projections/run.ts';
import type { SessionsSendParameters, SessionsSendResult } from '../../../shared/domain/projections/schemas.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import type { IncomingFile } from '../attachments/incoming-file.ts';
import type { Call } from '../operation/operation.ts';
import { submitMessage } from './submit-message.ts';

/** A message from a program or an agent: its text is for the model, whatever it looks like. `signal` ends the wait, never the run (A10/117–121). */
export const sessionsSend = async (
  { context, caller, signal }: Call,
  { sessionKey, message, timeoutSeconds, idempotencyKey, attachments: files }: SessionsSendParameters & Partial<ChatMessage>,
): Promise<SessionsSendResult> => {
  const key = keyFrom(context.config, sessionKey);
  const waitMs = timeoutSeconds * 1_000;
  const submission = { key, text: message, idempotencyKey, files, literal: true, waitMs, signal };
  const { run } = await submitMessage(context, caller, submission);
  return waitMs === 0 ? { runId: run.runId, status: 'accepted' } : waitedFor(run);
};

export interface ChatMessage {
  readonly sessionKey: string;
  readonly message: string;
  readonly idempotencyKey?: string | undefined;
  readonly attachments?: readonly IncomingFile[] | undefined;
}

/** Accepts a person's message and does not wait. Sent again with its key it is the same run: `in_flight`, and once it is over `ok` or `error` (B32). */
export const chatSend = async (
  { context, caller, signal }: Call,
  { sessionKey, message, idempotencyKey, attachments: files }: ChatMessage,
) => {
  const key = keyFrom(context.config, sessionKey);
  const submission = { key, text: message, idempotencyKey, files, literal: false, waitMs: 0, signal };
  const { run, duplicate, seen } = await submitMessage(context, caller, submission);
  if (!duplicate) return run;
  const now = (await context.runs.status(key, run.runId, seen)) ?? run;
  return now.status === 'ok' || now.status === 'error' ? now : { runId: run.runId, status: 'in_flight' };
};
