import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parseKey } from '../../../../shared/domain/keys/session-key.ts';
import { isOver } from '../../../../shared/domain/projections/run.ts';
import { findRun } from '../../../../shared/runtime/session-tools/find-run.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { queryOf } from '../../http/input.ts';
import { Refusal } from '../../http/problem.ts';
import { sessionHeader } from '../../http/session-header.ts';
import type { Call } from '../../operation/operation.ts';
import { waiting } from '../../operation/waiting.ts';
import { beginningOf } from '../../runs/run-start.ts';
import { deleteSession, stopSession } from '../../sessions/control.ts';
import { secondsOf, waitMsOf } from './answer-completion.ts';
import { findResponse, runsBegunBy } from './find-response.ts';
import { Failure } from './format/failure.ts';
import { type Item, ItemReader, type itemListQuery, itemQuery, pageOfItems } from './format/items.ts';
import { modelNameOf } from './format/models.ts';
import { isOfOneCall } from './format/session-names.ts';
import { type ResponseHead, responseFrames, responseObject } from './response.ts';
import { streamAnswer } from './stream.ts';

/** A response after its answer: read, stopped, deleted, by its id alone. */

const wrong = { field: 'id', code: 'response_not_found' };
type Reader = Pick<Call, 'context' | 'caller'>;
const found = ({ context, caller }: Reader, id: string) => findResponse(context, caller.principal, id, wrong);

const headOf = (id: string, { key, runId, answer }: Awaited<ReturnType<typeof found>>): ResponseHead => {
  const model = modelNameOf(parseKey(key).agentId);
  return { id, key, runId, model, createdAt: secondsOf(answer.at ?? 0), previousResponseId: null };
};

const readResponse = async (reader: Reader, id: string) => {
  const response = await found(reader, id);
  return responseObject(headOf(id, response), response.answer);
};

const trueOrFalse = z.enum(['true', 'false'], 'use "true" or "false"').optional();
/** `include_obfuscation`: nothing here is padded. */
export const responseQuery = itemQuery.extend({
  stream: trueOrFalse,
  starting_after: z
    .string('give it once')
    .regex(/^\d{1,9}$/, 'use the "sequence_number" of an event')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 0, description: 'the number of the last event that the client has; of a stream alone' }),
  include_obfuscation: trueOrFalse,
});

/** Answers with a response as the log has it, or streams it: what is recorded, and on as it goes. */
export const sendResponse = async (context: GatewayContext, request: FastifyRequest, reply: FastifyReply) => {
  const { stream, starting_after: startingAfter } = queryOf(responseQuery, request);
  const { id } = request.params as { id: string };
  const reader = { context, caller: request };
  if (stream !== 'true') return reply.send(await readResponse(reader, id));
  await waiting(context, reply, async (signal) => {
    const response = await found(reader, id);
    const { key, runId, seen, answer } = response;
    const beginning = await beginningOf(context.ports, key, runId, seen);
    const place = { key, runId, submittedAfter: seen, followAfter: beginning?.after ?? seen };
    const known = { ...place, run: answer.run, waitMs: waitMsOf(request), signal };
    reply.header(sessionHeader, encodeURIComponent(key)).header('x-natter-run', runId);
    await streamAnswer(context, request, reply, known, responseFrames(headOf(id, response), startingAfter));
  });
  return reply;
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
    if (isOver(answer.run) || answer.calls.length > 0) break;
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
