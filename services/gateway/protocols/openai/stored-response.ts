import type { z } from 'zod';
import { parseKey } from '../../../../shared/domain/keys/session-key.ts';
import { isOver } from '../../../../shared/domain/projections/run.ts';
import { findRun } from '../../../../shared/runtime/session-tools/find-run.ts';
import { Refusal } from '../../http/problem.ts';
import type { Call } from '../../operation/operation.ts';
import { deleteSession, stopSession } from '../../sessions/control.ts';
import { secondsOf } from './answer-completion.ts';
import { findResponse, runsBegunBy } from './find-response.ts';
import { Failure } from './format/failure.ts';
import { type Item, ItemReader, type itemListQuery, pageOfItems } from './format/items.ts';
import { modelNameOf } from './format/models.ts';
import { isOfOneCall } from './format/session-names.ts';
import { responseObject } from './response.ts';

/** A response after its answer: read, stopped, deleted, by its id alone. */

const wrong = { field: 'id', code: 'response_not_found' };
const found = ({ context, caller }: Call, id: string) => findResponse(context, caller.principal, id, wrong);

export const readResponse = async (call: Call, id: string) => {
  const { key, runId, answer } = await found(call, id);
  const head = { id, key, runId, model: modelNameOf(parseKey(key).agentId), createdAt: secondsOf(answer.at ?? 0) };
  return responseObject({ ...head, previousResponseId: null }, answer);
};

/** How often a stop is tried anew because the session has moved in between. */
const stops = 10;
/** How long a stop may take to be recorded. */
const stopMs = 10_000;

/** Stops the run, if it has not ended, and returns the response as it is then. Another run is not stopped in its place. */
export const cancelResponse = async (call: Call, id: string) => {
  const { context, caller, signal } = call;
  for (let attempt = 1; ; attempt++) {
    const { key, runId, answer } = await found(call, id);
    if (isOver(answer.run)) break;
    const { row, after } = await context.access.read(caller.principal, key);
    if (row.activeTurnId !== answer.turnId) {
      const message = 'another answer of this conversation comes before it; cancel that one first';
      throw new Failure(409, 'response_queued', message);
    }
    try {
      await stopSession(call, { key, reason: 'the response was cancelled', condition: async () => ({ ifSeq: row.seq }) });
      await context.runs.await(key, runId, { after, waitMs: stopMs, signal });
      break;
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'precondition_failed') || attempt === stops) throw error;
    }
  }
  return readResponse(call, id);
};

/** Deletes the session of a response that is all there is in it. Throws `Failure` for a part of a longer conversation. */
export const deleteResponse = async (call: Call, id: string) => {
  const { key } = await found(call, id);
  const { row } = await call.context.access.read(call.caller.principal, key);
  const turns = row.completedTurns + row.failedTurns + row.queuedTurns + (row.activeTurnId === null ? 0 : 1);
  if (!isOfOneCall(key) || turns > 1) {
    const message = `what was said stays in its conversation; delete that as a whole: DELETE /v1/conversations/${key}`;
    throw new Failure(409, 'response_in_conversation', message, 'id');
  }
  await deleteSession(call, { key, mode: 'session', reason: 'the response was deleted' });
  return { id, object: 'response' as const, deleted: true };
};

/** What the response answers: the message, or the results that its run began with. Context that came along is in the conversation. */
export const inputItemsOf = async (call: Call, { id, query }: { id: string; query: z.infer<typeof itemListQuery> }) => {
  const { context, caller } = call;
  const { key, runId } = await found(call, id);
  const { after } = await context.access.read(caller.principal, key);
  const reader = new ItemReader();
  const items: Item[] = [];
  await findRun(context.ports, key, runId, after, (commit) => {
    const taken = reader.take(commit);
    if (runsBegunBy(commit).includes(runId))
      items.push(...taken.filter(({ type, role }) => type === 'function_call_output' || role === 'user'));
  });
  return pageOfItems(items, query);
};
