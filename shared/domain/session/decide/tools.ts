import { limits } from '../../../kit/limits.ts';
import type { MemoryEdit } from '../../values/memory-edit.ts';
import type { SpawnedRun, ToolOutcome, TurnRef } from '../../values/types.ts';
import type { CallResult } from '../commands.ts';
import type { ActiveTurn, CallState } from '../context.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import { accept, type BusyView, type Decision, type Given, isCurrent, nothing, refOf, type SessionView } from './decision.ts';

/** Tool calls: the intent is recorded before the effect, and a finished call never runs again (I6, I7). */

/** A call's id: the same on every host that decides this, and unique in the session. `index`: its place in the step, from 0. */
export const callIdOf = (turnId: string, step: number, index: number): string => `${turnId}.${step}.${index}`;

/** A call starts: recorded before it runs. */
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

/** A call ends. A long output is split into pages; the conversation shows the first until the model asks for others. */
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

/**
 * Cuts a text into pages of at most `limits.toolPageBytes`, between characters. Text beyond `limits.toolOutputBytes` is dropped,
 * and an extra page says so.
 */
const pagesOf = (text: string): string[] => {
  const bytes = Buffer.from(text);
  if (bytes.length <= limits.toolPageBytes) return [text];
  const kept = wholeCharacters(bytes, limits.toolOutputBytes);
  const pages: string[] = [];
  for (let start = 0, end: number; start < kept; start = end) {
    end = Math.min(kept, wholeCharacters(bytes, start + limits.toolPageBytes));
    pages.push(bytes.toString('utf8', start, end));
  }
  if (kept < bytes.length) pages.push(`[The output was ${bytes.length} bytes; only the first ${kept} were kept.]`);
  return pages;
};

/** The largest offset up to `end` that splits no character. */
const wholeCharacters = (bytes: Buffer, end: number): number => {
  let cut = Math.min(end, bytes.length);
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
};

/** A call of the turn that has not ended. */
export const openCall = ({ calls }: ActiveTurn, callId: string): CallState | undefined =>
  calls.find((call) => call.callId === callId && call.status !== 'done');

/** A call starts late, or again. A call that this attempt has already started is running and does not start again. */
export const startCall = ({ data }: Given<'start_call'>, view: SessionView): Decision => {
  if (view.turn === null || !isCurrent(view, data.turn)) return nothing;
  const call = openCall(view.turn, data.callId);
  if (call === undefined || isBegun(call, view.turn)) return nothing;
  return accept(starting(view.turn, call, { spawn: data.spawn }));
};

/** True if this attempt is running the call. */
export const isBegun = ({ status, attempt }: CallState, turn: TurnRef): boolean =>
  status === 'started' && attempt === turn.attempt;

/** Records the result of a call of this attempt. A call that never started can only fail. */
export const recordResult = ({ data }: Given<'record_result'>, view: SessionView): Decision =>
  view.turn === null || !isCurrent(view, data.turn) ? nothing : accept(...resultEvents(data, view));

/** What the result of a call of the running attempt adds: nothing if the call has ended already. */
export const resultEvents = (
  { callId, outcome, text, memory }: CallResult & { readonly memory?: MemoryEdit | undefined },
  view: BusyView,
): SessionEvent[] => {
  const call = openCall(view.turn, callId);
  // Without a recorded intent there can have been no effect (I6).
  if (call === undefined || (outcome === 'ok' && !isBegun(call, view.turn))) return [];
  const failed = outcome === 'ok' ? [] : unbegun(view, call);
  const remembered = outcome === 'ok' && memory ? [remembering(view, memory, call.callId)] : [];
  return [...ended(view.turn, call, outcome, text), ...remembered, ...failed];
};

/** The memory changes made by a call, effective from this commit on (A7/82). */
const remembering = ({ context, position }: BusyView, memory: MemoryEdit, callId: string): EventOf<'memory_changed'> => ({
  type: 'memory_changed',
  v: 1,
  ...memory,
  by: 'agent',
  sessionId: context.sessionId,
  fromRev: position.startedRev,
  toRev: position.rev,
  callId,
});

/** The spawned run may have started although its call failed: it is stopped and no longer counted. */
const unbegun = ({ context: { spawned } }: SessionView, { runId }: CallState): SessionEvent[] => {
  const runs = spawned.filter((run) => run.runId === runId);
  return runs.length === 0 ? [] : [{ type: 'runs_stopped', v: 1, runs, reason: 'the call that started it has failed' }];
};
