import { isStranger } from '../../values/queue-share.ts';
import type { Sender } from '../../values/types.ts';
import type { ActiveTurn, CallState } from '../context.ts';
import type { SessionEvent } from '../events.ts';
import {
  accept,
  type BusyView,
  type Decision,
  type Given,
  isCurrent,
  nothing,
  refOf,
  refuse,
  type SessionView,
} from './decision.ts';
import { abandonEvents } from './generation.ts';
import { joinEvents } from './message.ts';
import { ended, starting } from './tools.ts';

/**
 * A turn waits for results of tools that the program runs which sent its message (ADR 26). Nobody holds it meanwhile. All results come
 * together, and resume it as a new attempt, on whichever host owns the session by then.
 */

/** The calls are the program's now: begun as far as anybody here knows (I6). */
export const handingOver = (
  turn: Pick<ActiveTurn, 'id' | 'attempt'>,
  calls: readonly CallState[],
  expiresAt: number,
): SessionEvent[] => [
  ...calls.map((call) => starting(turn, call)),
  { type: 'client_results_awaited', v: 1, turn: refOf(turn), calls: calls.map(({ callId }) => callId), expiresAt },
];

export const awaitResults = ({ data }: Given<'await_results'>, view: SessionView): Decision => {
  if (view.turn === null || !isCurrent(view, data.turn)) return nothing;
  const open = openCalls(view.turn);
  return open.length > 0 && open.every(({ client }) => client)
    ? accept(...handingOver(view.turn, open, data.expiresAt))
    : nothing;
};

const openCalls = ({ calls }: ActiveTurn): readonly CallState[] => calls.filter(({ status }) => status !== 'done');

export const giveResults = (given: Given<'give_results'>, view: SessionView): Decision => {
  const { results, by } = given.data;
  const texts = new Map(results.map((result) => [result.callId, result]));
  const open = view.status === 'awaiting_results' ? openCalls(view.turn) : [];
  if (view.turn === null || !open.some(({ callId }) => texts.has(callId))) {
    return refuse(
      'results_unexpected',
      'no call waits for these results: they were given, the wait was too long, or another message came',
    );
  }
  const missing = open.find(({ callId }) => !texts.has(callId));
  if (missing !== undefined) {
    return refuse('results_incomplete', `call ${missing.callId} has no result; give those of all calls of the answer together`);
  }
  if (!mayGive(by, view.turn))
    return refuse('results_forbidden', 'these calls are not yours to answer; whoever sent the message is');
  return accept(...receiving(given, view, open));
};

/** Whoever sent the message, and the owner: a result speaks with the rights of the turn. */
const mayGive = (by: Sender, { askedBy }: ActiveTurn): boolean =>
  !isStranger(by) || (askedBy !== undefined && askedBy === by.principal);

const receiving = (given: Given<'give_results'>, view: BusyView, open: readonly CallState[]): SessionEvent[] => {
  const { id: runId, data } = given;
  const { results, by, said, client } = data;
  const { turn } = view;
  const next = { id: turn.id, attempt: turn.attempt + 1 };
  return [
    {
      ...{ type: 'client_results_received', v: 1, turn: next, runId, by: by.principal ?? by.id, step: turn.step },
      ...(client && { client }),
    },
    ...open.flatMap((call) => {
      const { outcome = 'error', text = '' } = results.find(({ callId }) => callId === call.callId) ?? {};
      return ended(next, call, outcome, text);
    }),
    ...(said ? joinEvents(runId, said, { ...view, turn: { ...turn, ...next } }) : []),
  ];
};

/** The program did not come back in time. What it was asked for may have been done. */
export const expireResults = ({ at, data: { turnId } }: Given<'expire_results'>, view: SessionView): Decision =>
  view.status === 'awaiting_results' && view.turn.id === turnId && at > (view.turn.resultsUntil ?? 0)
    ? accept(...abandonEvents(view, 'the program gave no results of its tools in time'))
    : nothing;
