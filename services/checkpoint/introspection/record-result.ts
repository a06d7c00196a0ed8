import type { CheckpointRequest, CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';
import type { IntrospectionResult } from './introspect.ts';
import { commandIdOf, type IntrospectionSlice } from './slice.ts';

type RecorderPorts = Pick<Ports, 'clock' | 'events' | 'commands' | 'answers'>;

/** `recorded`: the result is in the log. `nothing`: the session has no use for it any more. `retry`: the outcome is unknown. */
export type RecordOutcome =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'dead'; readonly reason: string };

/** Milliseconds to wait for the session's answer before the log is checked. */
const answerMs = 2_000;

/**
 * Sends an introspection's result to its session and waits until the log has it, since the next request of the session depends on
 * what is recorded. If the answer is lost, it checks the log and sends the command again with the same id.
 */
export const createResultRecorder =
  (ports: RecorderPorts) =>
  async (
    request: CheckpointRequest,
    slice: IntrospectionSlice,
    result: IntrospectionResult,
    signal: AbortSignal,
  ): Promise<RecordOutcome> => {
    const command = commandOf(ports, request, slice, result);
    while (!signal.aborted) {
      const waiting = ports.answers.wait(command.id, answerMs);
      await ports.commands.publish(command);
      const answer = await waiting;
      if (answer?.outcome === 'refused') return { kind: 'dead', reason: `${answer.code}: ${answer.message}` };
      if (answer?.outcome === 'accepted' || answer?.outcome === 'duplicate') return { kind: 'recorded' };
      if (answer?.outcome === 'nothing') return { kind: 'nothing' };
      if (await isRecorded(ports, request, command.id)) return { kind: 'recorded' };
    }
    return { kind: 'retry' };
  };

const commandOf = (
  { clock, answers }: RecorderPorts,
  request: CheckpointRequest,
  { fromRev, toRev, toSeq }: IntrospectionSlice,
  result: IntrospectionResult,
): CommandEnvelope => ({
  id: commandIdOf(request, fromRev),
  key: request.key,
  at: clock.now(),
  correlationId: request.id,
  causationId: request.id,
  actor: 'introspection',
  answerTo: answers.address,
  data: { type: 'record_introspection', sessionId: request.sessionId, reason: request.reason, fromRev, toRev, toSeq, result },
});

const isRecorded = async (ports: RecorderPorts, { key, throughSeq }: CheckpointRequest, id: string): Promise<boolean> => {
  const through = (await orQuarantined(ports.events.last(key)))?.seq ?? 0;
  if (through <= throughSeq) return false;
  const findCommand = async (): Promise<boolean> => {
    for await (const { command } of readThrough(ports, key, { after: throughSeq, through })) if (command.id === id) return true;
    return false;
  };
  return orQuarantined(findCommand());
};
