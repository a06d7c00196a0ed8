import { assert, assertNever } from '../../../kit/assert.ts';
import { messageOf } from '../commands.ts';
import type { CommandEnvelope } from '../envelope.ts';
import type { SessionState } from '../evolve.ts';
import { expireApproval, requestApproval, resolveApproval } from './approval.ts';
import { changeMemory, recordIntrospection, requestCheckpoint } from './checkpoint.ts';
import { compact, recordCompaction } from './compaction.ts';
import { type Decision, type Given, refuse, type SessionView, sessionMoved } from './decision.ts';
import { deactivate, deleteSession, fork, reset, stop } from './lifecycle.ts';
import { appendMessage, isCancelled, openSession, postMessage, recordOrigin, refuseCancelled } from './message.ts';
import { patchSession, postNotice, report } from './notice.ts';
import { recordResult, startCall } from './tools.ts';
import { recordStep, resumeTurn } from './turn.ts';

export type { Decision, RefusalCode } from './decision.ts';

/** A state as the rules see it. */
const view = ({ machine: { value: status, context }, position }: SessionState): SessionView => {
  switch (status) {
    case 'idle':
    case 'inactive':
      return { status, context, position, turn: null };
    case 'running':
    case 'awaiting_approval':
      assert(context.turn, `a session that is ${status} has a turn`);
      return { status, context, position, turn: context.turn };
  }
};

/** Every rule of the domain: total, pure, without a clock or ids of its own. What it accepts, `evolve` accepts (property test). */
export const decide = (envelope: CommandEnvelope, state: SessionState): Decision => {
  const { data } = envelope;
  const session = view(state);
  if (isMoved(envelope, session)) return refuse('precondition_failed', sessionMoved);
  if (isCancelled(envelope, session)) return refuseCancelled(envelope);
  const given = envelope as Given<never>;
  switch (data.type) {
    case 'open_session':
      return openSession(given, session);
    case 'post_message':
      return postMessage(given, session);
    case 'append_message':
      return appendMessage(given, session);
    case 'record_origin':
      return recordOrigin(given, session);
    case 'stop':
      return stop(given, session);
    case 'reset':
      return reset(given, session);
    case 'fork':
      return fork(given, session);
    case 'request_checkpoint':
      return requestCheckpoint(given, session);
    case 'record_introspection':
      return recordIntrospection(given, session);
    case 'change_memory':
      return changeMemory(given, session);
    case 'patch_session':
      return patchSession(given, session);
    case 'post_notice':
      return postNotice(given, session);
    case 'report':
      return report(given, state);
    case 'deactivate_session':
      return deactivate(given, session);
    case 'delete_session':
      return deleteSession(given, session);
    case 'resume_turn':
      return resumeTurn(given, session);
    case 'record_step':
      return recordStep(given, session);
    case 'start_call':
      return startCall(given, session);
    case 'record_result':
      return recordResult(given, session);
    case 'compact':
      return compact(given, session);
    case 'record_compaction':
      return recordCompaction(given, session);
    case 'request_approval':
      return requestApproval(given, session);
    case 'resolve_approval':
      return resolveApproval(given, session);
    case 'expire_approval':
      return expireApproval(given, session);
    default:
      return assertNever(data);
  }
};

/** True if the command expects the session at another sequence. */
const isMoved = ({ ifSeq }: CommandEnvelope, { position }: SessionView): boolean => ifSeq !== undefined && ifSeq !== position.seq;

type Place = { readonly seq: number; readonly incarnation: number } | null;

/**
 * True if a later command of the session has already taken effect, so that everything up to this place in the command stream is
 * handled (I2).
 */
export const isBehind = (delivery: Place, { position: { command } }: SessionState): boolean =>
  delivery !== null && delivery.incarnation === command.incarnation && delivery.seq <= command.seq;

/**
 * True if this command, or the message in it, has taken effect before (I2), or if the turn it requests is already running or
 * queued (I5).
 */
export const isRepeat = ({ id, causationId, data }: CommandEnvelope, delivery: Place, state: SessionState): boolean => {
  if (isBehind(delivery, state)) return true;
  const { context } = state.machine;
  const { recentIds } = state.position;
  if (recentIds.includes(id)) return true;
  const message = messageOf(data);
  // A routed command's id includes the channel. The platform's message id does not: two channels may both have a message 17.
  const isRouted = message !== undefined && causationId === message.messageId;
  if (message !== undefined && !isRouted && message.messageId !== id && recentIds.includes(message.messageId)) return true;
  const asksForTurn = data.type === 'compact' || (message !== undefined && data.type !== 'append_message');
  return (
    asksForTurn &&
    (context.turn?.id === id || context.turn?.merged?.includes(id) === true || context.queue.some((turn) => turn.id === id))
  );
};
