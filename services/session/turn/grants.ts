import { isDeferredTurn } from '../../../shared/domain/session/decide/deferred-call.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ToolCall } from '../../../shared/domain/values/types.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';
import type { Attempt } from './attempt.ts';
import { callHash, parseArguments } from './call-hash.ts';

/**
 * Whether a person has allowed exactly this call (I7). `none`: nobody was asked. `bound`: the granted request names the call, and its hash
 * matches the tool and arguments in the log, which are the ones about to be used. `other`: anything else. Read from the log itself, right
 * before the call runs.
 */
export const grantOf = async ({ services, key, ref, state }: Attempt, call: ToolCall): Promise<'none' | 'bound' | 'other'> => {
  const { contextSeq, startedSeq, seq } = state.position;
  // The call is of this generation, wherever a fork's conversation begins. A question that no turn waited for may be older than a compaction.
  const after = Math.max(0, isDeferredTurn(ref.id) ? 0 : contextSeq - 1, startedSeq - 1);
  let written: ToolCall | undefined;
  let request: EventOf<'approval_requested'> | undefined;
  let answer: EventOf<'approval_resolved'> | undefined;
  for await (const { events } of readThrough(services, key, { after, through: seq })) {
    for (const event of events) {
      if (event.type === 'model_step') written = event.calls?.find(({ callId }) => callId === call.callId) ?? written;
      if (event.type === 'approval_requested' && event.callId === call.callId) request = event;
      if (event.type === 'approval_resolved' && event.callId === call.callId) answer = event;
    }
  }
  if (request === undefined) return 'none';
  const isAnswered = answer?.verdict === 'granted' && answer.approvalId === request.approvalId;
  const isWritten = written?.tool === call.tool && written.arguments === call.arguments;
  const parsed = parseArguments(call.arguments);
  return isAnswered && isWritten && 'value' in parsed && request.hash === callHash(call.tool, parsed.value) ? 'bound' : 'other';
};
