import { assert } from '../../../kit/assert.ts';
import type { CommandOf, CommandType } from '../commands.ts';
import type { CommandEnvelope } from '../envelope.ts';
import type { SessionState } from '../fold/evolve.ts';
import { expireApproval, requestApproval, resolveApproval } from './approval.ts';
import { changeMemory, recordIntrospection, requestCheckpoint } from './checkpoint.ts';
import { awaitResults, expireResults, giveResults } from './client-results.ts';
import { compact, recordCompaction } from './compaction.ts';
import { type Decision, type Given, nothing, refuse, type SessionView, sessionMoved } from './decision.ts';
import { repeatDelivery, reportDelivery } from './delivery.ts';
import { cancelQueued, deactivate, deleteSession, fork, reset, stop } from './lifecycle.ts';
import { appendMessage, isCancelled, openSession, postMessage, recordOrigin, refuseCancelled } from './message.ts';
import { patchSession, postNotice, report } from './notice.ts';
import { repairHistory } from './repair.ts';
import { editMessage, withdrawMessage } from './revision.ts';
import { recordResult, startCall } from './tools.ts';
import { recordStep, resumeTurn } from './turn.ts';

export type { Decision, RefusalCode } from './decision.ts';

/** The rule of each command. A function for the wrong type of command does not compile (test/unit/session/handlers.test.ts). */
export type Handlers = {
  readonly [T in CommandType]: (given: Given<T>, view: SessionView, state: SessionState) => Decision;
};

export const handlers: Handlers = {
  open_session: openSession,
  post_message: postMessage,
  append_message: appendMessage,
  edit_message: editMessage,
  withdraw_message: withdrawMessage,
  record_origin: recordOrigin,
  stop,
  cancel_queued: cancelQueued,
  reset,
  fork,
  request_checkpoint: requestCheckpoint,
  record_introspection: recordIntrospection,
  change_memory: changeMemory,
  patch_session: patchSession,
  post_notice: postNotice,
  report: (given, _, state) => report(given, state),
  deactivate_session: deactivate,
  delete_session: deleteSession,
  resume_turn: resumeTurn,
  record_step: recordStep,
  start_call: startCall,
  record_result: recordResult,
  compact,
  record_compaction: recordCompaction,
  request_approval: requestApproval,
  resolve_approval: resolveApproval,
  expire_approval: expireApproval,
  await_results: awaitResults,
  give_results: giveResults,
  expire_results: expireResults,
  report_delivery: reportDelivery,
  repeat_delivery: repeatDelivery,
  repair_history: repairHistory,
  check_history: () => nothing,
};

type CommandTyped<T extends CommandType> = { readonly [K in T]: CommandOf<K> }[T];

/** Rebuilds the envelope around its command, because TypeScript does not narrow an envelope by its data. */
const dispatch = <T extends CommandType>(
  data: CommandTyped<T>,
  envelope: CommandEnvelope,
  view: SessionView,
  state: SessionState,
): Decision => handlers[data.type]({ ...envelope, data }, view, state);

/** A state as the rules see it. */
const view = ({ machine: { value: status, context }, position }: SessionState): SessionView => {
  switch (status) {
    case 'idle':
    case 'inactive':
      return { status, context, position, turn: null };
    case 'running':
    case 'awaiting_approval':
    case 'awaiting_results':
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
  return dispatch(data, envelope, session, state);
};

/** True if the command expects the session at another sequence. */
const isMoved = ({ ifSeq }: CommandEnvelope, { position }: SessionView): boolean => ifSeq !== undefined && ifSeq !== position.seq;
