import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { keyOfRun, runIdOf } from '../../shared/domain/keys/run-id.ts';
import { waitedFor } from '../../shared/domain/projections/run.ts';
import { sessionsSendParameters } from '../../shared/domain/projections/schemas.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import { keyFrom } from '../../shared/runtime/session-tools/named-session.ts';
import { compact, instructions } from './compacting.ts';
import { post } from './posting.ts';
import type { Call } from './rpc.ts';
import { olderRuns } from './runs.ts';
import { sessionsSend } from './session-tools/send.ts';

/** The methods that begin runs and wait for them: `chat.send`, `agent`, `agent.wait`, `sessions.compact` (A10/117–122, A11/126, B32). */

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'use 1 to 255 printable ASCII characters without spaces')
  .optional();

export const chatSendParameters = sessionsSendParameters.omit({ timeoutSeconds: true }).extend({ idempotencyKey });

/** Accepts a message and does not wait. Sent again with its key it is the same run: `in_flight`, and once it is over `ok` or `error` (B32). */
export const chatSend = async (
  { context, asker, signal }: Call,
  { sessionKey, message, idempotencyKey: once }: z.infer<typeof chatSendParameters>,
) => {
  const key = keyFrom(context.config, sessionKey);
  const posting = { key, text: message, idempotencyKey: once, literal: false, waitMs: 0, signal };
  const { run, duplicate, seen } = await post(context, asker, posting);
  if (!duplicate) return run;
  const now = (await context.runs.status(key, run.runId, seen)) ?? run;
  return now.status === 'ok' || now.status === 'error' ? now : { runId: run.runId, status: 'in_flight' };
};

export const agentParameters = sessionsSendParameters.extend({
  idempotencyKey,
  timeoutSeconds: sessionsSendParameters.shape.timeoutSeconds.unwrap().default(0),
});

/** Begins a run; with `timeoutSeconds` it waits for the answer. */
export const agent = ({ context, asker, signal }: Call, parameters: z.infer<typeof agentParameters>) =>
  sessionsSend(context, asker, parameters, signal);

export const compactParameters = z.strictObject({
  key: z.string().min(1).max(1_024),
  instructions,
  timeoutSeconds: agentParameters.shape.timeoutSeconds,
});

/** Summarises what was said so far; with `timeoutSeconds` it waits for the end. */
export const compactSession = async ({ context, asker, signal }: Call, given: z.infer<typeof compactParameters>) => {
  const key = keyFrom(context.config, given.key, 'key');
  const waitMs = given.timeoutSeconds * 1_000;
  const wanted = { key, runId: runIdOf(key, uuidv7()), instructions: given.instructions, waitMs, signal };
  const { run } = await compact(context, asker, wanted);
  return waitMs === 0 ? { runId: run.runId, status: 'accepted' } : waitedFor(run);
};

export const waitParameters = z.strictObject({
  runId: z.string().min(1).max(limits.idCharacters),
  /** Where the run's id does not say it: that of a run begun by another call, or under a very long key. */
  sessionKey: z.string().min(1).max(1_024).optional(),
  timeoutMs: z
    .int()
    .min(0)
    .transform((ms) => Math.min(ms, limits.waitSeconds * 1_000))
    .default(30_000),
});

const noSuchRun = (): NatterError =>
  new NatterError('not_found', `runId: there is no such run, or it is not yours to see; ${olderRuns}`, { field: 'runId' });

/** Waits for a run where the log is: on any replica, as often as the caller comes back (A10/122). */
export const wait = async ({ context, asker, signal }: Call, given: z.infer<typeof waitParameters>) => {
  const { runId, sessionKey, timeoutMs: waitMs } = given;
  const key = sessionKey === undefined ? keyOfRun(runId) : keyFrom(context.config, sessionKey);
  if (key === null) throw noSuchRun();
  const after = await context.access.enter(asker.principal, key);
  const run = await context.runs.await(key, runId, { after, waitMs, signal });
  if (run === null) throw noSuchRun();
  return waitedFor(run);
};
