import { limits } from '../../kit/limits.ts';
import type { ActiveTurn, CallState, SessionContext } from '../context.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import type { ApprovalRequest, Ruling, SpawnedRun, ToolCall, ToolOutcome, TurnRef } from '../types.ts';
import {
  accept,
  type BusyView,
  type Decision,
  type Given,
  isCurrent,
  nothing,
  refOf,
  type SessionView,
  sending,
} from './decision.ts';

/** Calls of tools: the intent is recorded before the effect, and what has ended is never run again (I6, I7). */

/** A call begins: recorded before it runs. */
export const starting = (
  turn: TurnRef,
  { callId, tool, tries }: CallState,
  by: { readonly spawn?: SpawnedRun | undefined; readonly approvalId?: string } = {},
): EventOf<'tool_call_started'> => ({
  type: 'tool_call_started',
  v: 1,
  turn: refOf(turn),
  callId,
  tool,
  callAttempt: tries + 1,
  ...(by.approvalId !== undefined && { approvalId: by.approvalId }),
  ...(by.spawn && { spawn: by.spawn }),
});

/** A call ends. A long output is told in pages; the first stands for it until somebody asks for the others. */
export const ended = (
  turn: TurnRef,
  { callId, tool }: Pick<CallState, 'callId' | 'tool'>,
  outcome: ToolOutcome,
  output: string,
): SessionEvent[] => {
  const pages = pagesOf(output);
  const [text = ''] = pages;
  const result: SessionEvent = {
    type: 'tool_result',
    v: 1,
    turn: refOf(turn),
    callId,
    tool,
    outcome,
    text,
    bytes: Buffer.byteLength(output),
    ...(pages.length > 1 && { pages: pages.length }),
  };
  const stored = pages.length > 1 ? pages : [];
  return [
    result,
    ...stored.map((page, index): SessionEvent => ({ type: 'tool_output', v: 1, callId, page: index + 1, text: page })),
  ];
};

/** Cuts a text into pages of at most `limits.toolPageBytes`, at whole characters, and drops what is beyond `limits.toolOutputBytes`. */
const pagesOf = (text: string): string[] => {
  if (Buffer.byteLength(text) <= limits.toolPageBytes) return [text];
  const bytes = Buffer.from(text).subarray(0, limits.toolOutputBytes);
  const pages: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(bytes.length, start + limits.toolPageBytes);
    while (end < bytes.length && end > start && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    pages.push(bytes.subarray(start, end).toString());
    start = end;
  }
  return pages;
};

/** The question goes where the answer to the turn goes. */
export const asking = (context: SessionContext, turn: ActiveTurn, request: ApprovalRequest): EventOf<'approval_requested'> => ({
  type: 'approval_requested',
  v: 1,
  turn: refOf(turn),
  ...request,
  ...sending(context, turn),
});

/** What the policy's word on the calls of a step leads to at once: what may run begins, what may not ends, and if nothing runs a person is asked. */
export const ruled = ({ context, turn }: BusyView, calls: readonly ToolCall[], rulings: readonly Ruling[]): SessionEvent[] => {
  const events: SessionEvent[] = [];
  let question: SessionEvent | null = null;
  for (const [index, { callId, tool }] of calls.entries()) {
    const ruling = rulings[index];
    const call: CallState = { callId, tool, status: 'pending', attempt: turn.attempt, tries: 0 };
    if (ruling?.kind === 'run') events.push(starting(turn, call, { spawn: ruling.spawn }));
    if (ruling?.kind === 'deny') events.push(...ended(turn, call, ruling.invalid ? 'error' : 'denied', ruling.reason));
    if (ruling?.kind === 'ask') question ??= asking(context, turn, { ...ruling.request, callId, tool });
  }
  const runs = events.some(({ type }) => type === 'tool_call_started');
  return question === null || runs ? events : [...events, question];
};

const callOf = (view: SessionView, callId: string): CallState | undefined =>
  view.turn?.calls.find((call) => call.callId === callId && call.status !== 'done');

/** A call begins late, or once more. One that this attempt has begun is not begun again: it runs. */
export const startCall = ({ data }: Given<'start_call'>, view: SessionView): Decision => {
  const call = isCurrent(view, data.turn) ? callOf(view, data.callId) : undefined;
  if (view.turn === null || call === undefined || isBegun(call, view.turn)) return nothing;
  return accept(starting(view.turn, call, { spawn: data.spawn }));
};

const isBegun = ({ status, attempt }: CallState, turn: TurnRef): boolean => status === 'started' && attempt === turn.attempt;

/** The end of a call of this attempt; of one that was never begun only that it will not be. */
export const recordResult = ({ data }: Given<'record_result'>, view: SessionView): Decision => {
  const call = isCurrent(view, data.turn) ? callOf(view, data.callId) : undefined;
  if (view.turn === null || call === undefined) return nothing;
  // Without an intent there can have been no effect (I6).
  if (data.outcome === 'ok' && !isBegun(call, view.turn)) return nothing;
  return accept(...ended(view.turn, call, data.outcome, data.text));
};
