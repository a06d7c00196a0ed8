import { sessionChannel, type TurnRef } from '../../values/types.ts';
import type { CommandOf, CommandType } from '../commands.ts';
import type { ActiveTurn, SessionContext } from '../context.ts';
import type { CommandEnvelope } from '../envelope.ts';
import type { SessionEvent } from '../events.ts';
import type { Position } from '../fold/evolve.ts';

/** Why a command is refused. Part of the API; the message says what to do. */
export type RefusalCode =
  | 'session_busy'
  | 'stop_forbidden'
  | 'not_queued'
  | 'session_unknown'
  | 'session_retained'
  | 'fork_invalid'
  | 'precondition_failed'
  | 'not_damaged'
  | 'results_unexpected'
  | 'results_incomplete'
  | 'results_forbidden'
  | 'approval_unknown'
  | 'approval_resolved'
  | 'approval_expired'
  | 'approval_forbidden';

/** The result of a command: events to record (none: it is legal and changes nothing), or a refusal. */
export type Decision = { readonly accept: readonly SessionEvent[] } | { readonly refuse: RefusalCode; readonly message: string };

export const accept = (...events: SessionEvent[]): Decision => ({ accept: events });
export const nothing: Decision = { accept: [] };
export const refuse = (code: RefusalCode, message: string): Decision => ({ refuse: code, message });

/** The message for a command whose `ifSeq` no longer matches. */
export const sessionMoved = 'the session has changed since the expected sequence; read it again and retry';

/** A session as the rules see it: narrow on `status` first. */
export type SessionView = { readonly context: SessionContext; readonly position: Position } & (
  | { readonly status: 'idle' | 'inactive'; readonly turn: null }
  | { readonly status: 'running' | 'awaiting_approval' | 'awaiting_results'; readonly turn: ActiveTurn }
);

/** A session whose turn is running or waiting for an approval. */
export type BusyView = SessionView & { readonly turn: ActiveTurn };

/** A command of one type, with its envelope. */
export type Given<T extends CommandType> = CommandEnvelope & { readonly data: CommandOf<T> };

/** True when `turn` is the running attempt; otherwise the command comes from an attempt that has ended (I5). */
export const isCurrent = (view: SessionView, turn: TurnRef): boolean =>
  view.status === 'running' && view.turn.id === turn.id && view.turn.attempt === turn.attempt;

export const refOf = ({ id, attempt }: TurnRef): TurnRef => ({ id, attempt });

/** The session that spawned the turn's run and waits for its end, however it ends (A11/125). */
export const awaiting = (turn: ActiveTurn | null) =>
  turn?.deliverTo?.channel === sessionChannel ? { deliverTo: turn.deliverTo } : {};

/** The run does not end with this turn's answer if runs that its session spawned continue: more will be said (A11/125). */
export const unfinished = ({ spawned }: SessionContext, { deliverTo }: ActiveTurn) =>
  deliverTo?.channel === sessionChannel && spawned.length > 0 ? ({ unfinished: true } as const) : {};

/** Where the turn's output goes, and the session's own send policy (A9/96). */
export const sending = ({ settings: { sendPolicy } }: SessionContext, { deliverTo }: ActiveTurn) => ({
  ...(deliverTo && { deliverTo }),
  ...(sendPolicy && { sendPolicy }),
});
