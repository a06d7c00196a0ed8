import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RewindReason } from '../../../shared/domain/values/expiry.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Call } from '../operation/operation.ts';
import { resetSession } from '../sessions/control.ts';
import { fork } from '../sessions/fork.ts';
import type { UserText } from './follow-run.ts';
import { type HistoryEntry, historyEntries, type SaidEntry } from './run-history.ts';

/** A message that is said again: in place of an answer that is not wanted (`not`), or with another text. */
export interface Rewind {
  readonly key: SessionKey;
  readonly message: UserText & { readonly clientId: string };
  readonly wants: RewindReason;
  readonly not?: string | undefined;
}

/**
 * Goes back to before the message, in a new generation that continues from there, as a fork does (B21): what was said since stays in the log.
 * Resolves with the message to post, or with the run of a repeat, which was begun already. Throws as `fork`, and `NatterError('invalid')` where
 * the generation has no such message.
 */
export const rewindTo = async (
  call: Call,
  { key, message, wants, not }: Rewind,
): Promise<{ readonly message: UserText } | { readonly runId: string }> => {
  const { context, caller } = call;
  const { row, after } = await context.access.read(caller.principal, key);
  const entries = await historyEntries(context, caller.actor, key, after);
  const said = entries.findLast((entry): entry is SaidEntry => entry.kind === 'said' && entry.id === message.clientId);
  if (said === undefined) throw unknown(message.field);
  const isDone =
    wants === 'another text' ? said.text === message.text : not !== undefined && !has(entries, not, row.activeTurnId);
  if (isDone && said.runId !== undefined) return { runId: said.runId };
  const idempotencyKey = `${message.idempotencyKey} @${said.seq}`;
  if (said.isFirst) await resetSession(call, { key, reason: wants, mustExist: true, idempotencyKey });
  else await fork(call, { key, place: { atSeq: said.seq - 1 }, reason: wants, idempotencyKey });
  return { message: { ...message, idempotencyKey } };
};

const has = (entries: readonly HistoryEntry[], runId: string, active: string | null): boolean =>
  runId === active || entries.some((entry) => entry.kind === 'answered' && entry.runId === runId);

const unknown = (field: string): NatterError =>
  new NatterError('invalid', `${field}: this chat has no such message now; load its messages again`, { field });
