import { limits } from '../../shared/kit/limits.ts';
import type { CustodyRecord, CustodyState, Outbound } from '../../shared/ports/custody-log.ts';
import type { FailureClass, FindResult, PartLimit, SendResult } from '../../shared/ports/outlet.ts';
import { comesAfter, sentCount } from '../../shared/runtime/outgoing/custody.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { type Custody, cutInto, hasOtherText, partIn } from './parts/custody-parts.ts';
import { plainTextOf } from './parts/plain-text.ts';

/** The rules of custody, pure: given the conversation's last record, what to do next for an outbound (I6, I9, D12). */

/** No other state follows these. */
const finalStates: readonly CustodyState[] = ['delivered', 'partial', 'unknown', 'suppressed', 'failed'];
export const isFinal = (state: CustodyState): boolean => finalStates.includes(state);

/** Whether it may not have arrived, or not all of it, and nothing more is done about it. */
export const hasNotArrived = ({ state }: Pick<Custody, 'state'>): boolean =>
  isFinal(state) && state !== 'delivered' && state !== 'suppressed';

/** The state of an outbound, as a custody record says it. After `sending` the outlet is called at once. */
export type DeliveryState = Custody;

/** What the rules need to know about an outlet. */
export interface OutletTraits {
  readonly unknownSend:
    | { readonly by: 'key'; readonly forMs?: number }
    | { readonly by: 'ask'; readonly settlesMs: number }
    | { readonly by: 'neither' };
  readonly attempts: number;
  readonly limit?: PartLimit;
}

/** The next step of a delivery. */
export type Step =
  | { readonly kind: 'record'; readonly state: DeliveryState }
  /** To be recorded, then to be sent. */
  | { readonly kind: 'send'; readonly state: DeliveryState }
  /** The platform is to be asked what became of the part in hand, which was sent at about `around`. */
  | { readonly kind: 'ask'; readonly sending: DeliveryState; readonly around: number }
  | { readonly kind: 'wait'; readonly until: number; readonly detail: string; readonly attempts: number };

/**
 * The next step of `outbound` at `now`, given the last record of its conversation; `null` when it is in a final state. A conversation is
 * delivered strictly in order, so its last record is a watermark: everything before it is done. `outlet` is `undefined` when the channel
 * has none.
 */
export const nextStep = (
  last: CustodyRecord | null,
  outbound: Outbound,
  outlet: OutletTraits | undefined,
  now: number,
): Step | null => {
  if (last === null || comesAfter(outbound.id, last.outboundId)) return record(firstState(outbound, outlet));
  if (last.outboundId !== outbound.id || isFinal(last.state)) return null;
  const state = custodyIn(last);
  if (last.state === 'sending') return afterLostSend(state, last.at, outbound, outlet);
  const isUntouched = (state.parts?.done.length ?? 0) === 0 && state.uncertainSince === undefined;
  // The send policy may have changed since this was prepared.
  if (outbound.suppressedReason !== undefined) {
    const { attempt } = state;
    if (isUntouched) return record({ state: 'suppressed', attempt, detail: outbound.suppressedReason });
    return record(ended(state, outbound.suppressedReason));
  }
  if (outlet === undefined) return record(ended(state, outletRemoved));
  if (hasOtherText(state, outbound.text)) {
    if (!isUntouched) return record(ended(state, 'its text is not the one that its first parts are of'));
    return record({ ...firstState(outbound, outlet), attempt: state.attempt });
  }
  return beforeSend(state, outlet, now);
};

const record = (state: DeliveryState): Step => ({ kind: 'record', state });
const outletRemoved = 'its outlet was removed from the configuration';

/** What a record says of an outbound, without whose and when it is. */
const custodyIn = ({ v: _, outboundId, outboundSeq, key, target, at, by, ...state }: CustodyRecord): DeliveryState => state;

const firstState = (outbound: Outbound, outlet: OutletTraits | undefined): DeliveryState => {
  if (outbound.suppressedReason !== undefined) return { state: 'suppressed', attempt: 0, detail: outbound.suppressedReason };
  if (outlet === undefined) {
    return { state: 'failed', attempt: 0, detail: `no outlet for channel ${JSON.stringify(outbound.target.channel)}` };
  }
  return { state: 'prepared', attempt: 1, ...cutInto(outbound.text, outlet.limit) };
};

/** Of a prepared outbound whose text is still the one that was cut. */
const beforeSend = (state: DeliveryState, outlet: OutletTraits, now: number): Step => {
  const { detail = 'no detail', failure, notBefore = 0, ...rest } = state;
  const { attempt, uncounted = 0, uncertainSince } = state;
  const { unknownSend } = outlet;
  const forMs = unknownSend.by === 'key' ? unknownSend.forMs : undefined;
  if (uncertainSince !== undefined && forMs !== undefined && now >= uncertainSince + forMs) {
    return record(ended(state, `the receiver recognises its id for ${forMs} ms only; ${detail}`));
  }
  const tries = attempt - 1 - uncounted;
  if (tries >= outlet.attempts) {
    const gaveUp = `gave up after ${tries} attempts; ${detail}`;
    return record({ ...ended(state, gaveUp), attempt: attempt - 1 });
  }
  const why = failure === 'rate_limit' ? `the receiver asked to wait (${detail})` : detail;
  if (notBefore > now) return { kind: 'wait', until: notBefore, detail: why, attempts: attempt - 1 };
  return { kind: 'send', state: { ...rest, state: 'sending' } };
};

/** `sending` without an outcome means that the process that sent it was lost, or that the platform must be asked. */
const afterLostSend = (sending: DeliveryState, at: number, outbound: Outbound, outlet: OutletTraits | undefined): Step => {
  if (outlet === undefined) return record(ended(sending, outletRemoved));
  if (hasOtherText(sending, outbound.text)) return record(ended(sending, 'the process was lost while sending'));
  switch (outlet.unknownSend.by) {
    case 'key':
      return record(again(sending, { detail: 'the outcome of the last attempt is unknown', uncertainSince: at }));
    case 'ask':
      return { kind: 'ask', sending, around: at };
    case 'neither':
      return record(ended(sending, 'the process was lost while sending'));
  }
};

export interface SentAt {
  readonly outbound: Outbound;
  readonly outlet: OutletTraits;
  /** When the send began, ms. */
  readonly at: number;
  readonly now: number;
  /** Milliseconds to wait before another attempt, if the receiver does not ask for a longer wait. */
  readonly retryMs: number;
}

/**
 * The state after the send that `sending` announced, by what the outlet answered; `null` when the platform is to be asked first, with
 * `sending` still the last record.
 */
export const afterSend = (result: SendResult, sending: DeliveryState, sent: SentAt): DeliveryState | null => {
  switch (result.kind) {
    case 'sent':
      return afterPart(sending, result);
    case 'refused':
      return afterRefusal(result, sending, sent);
    case 'unknown':
      if (sent.outlet.unknownSend.by === 'ask') return null;
      return sent.outlet.unknownSend.by === 'key'
        ? again(sending, { detail: result.detail, uncertainSince: sent.at, notBefore: sent.now + sent.retryMs })
        : ended(sending, result.detail);
  }
};

/** The state after the platform was asked what became of a send; `null` when it is to be asked again. */
export const afterFind = (
  found: FindResult,
  sending: DeliveryState,
  { at, now, settlesMs }: Pick<SentAt, 'at' | 'now'> & { readonly settlesMs: number },
): DeliveryState | null => {
  switch (found.kind) {
    case 'sent':
      return afterPart(sending, found);
    case 'not_sent': {
      if (now < at + settlesMs) return null;
      const { uncertainSince: _, ...certain } = sending;
      return again(certain, { detail: 'the platform says that it has not arrived', failure: 'transient' });
    }
    case 'unresolved':
      return now < at + deliveryLimits.askMs ? null : ended(sending, found.detail);
  }
};

/** The next part, or the end. */
const afterPart = (sending: DeliveryState, { messageId, detail }: { messageId?: string; detail?: string }): DeliveryState => {
  const { attempt, form, parts } = sending;
  const id = messageId?.slice(0, limits.platformIdCharacters);
  const told = detail === undefined ? {} : { detail };
  if (parts === undefined) return { state: 'delivered', attempt, ...told, ...(id !== undefined && { messageId: id }) };
  const refused = form === 'mark' ? [...(parts.refused ?? []), parts.done.length] : parts.refused;
  const next = { ...parts, done: [...parts.done, id ?? null], ...(refused && { refused }) };
  if (next.done.length <= next.cuts.length) return { state: 'prepared', attempt: 1, parts: next, ...formOf(next.done.length) };
  if (refused === undefined) return { state: 'delivered', attempt, ...told, parts: next };
  const end = { attempt, parts: next, detail: `parts are missing: ${refused.map((index) => index + 1).join(', ')}` };
  return { ...end, state: sentCount(next) > 0 ? 'partial' : 'failed' };
};

/** What does not fit into the last part that may be sent is replaced by a mark at once. */
const formOf = (index: number): Pick<DeliveryState, 'form'> => (index >= limits.deliveryParts ? { form: 'mark' } : {});

const afterRefusal = (
  { failure, afterMs = 0, detail }: SendResult & { kind: 'refused' },
  sending: DeliveryState,
  { outbound, now, retryMs }: SentAt,
): DeliveryState => {
  const notBefore = now + Math.max(afterMs, retryMs);
  const uncounted = (sending.uncounted ?? 0) + 1;
  switch (failure) {
    case 'transient':
      return again(sending, { detail, failure, notBefore });
    case 'rate_limit':
      return again(sending, { detail, failure, notBefore, uncounted });
    // How long to wait is a matter of the account, not of the message.
    case 'auth':
    case 'permission':
      return again(sending, { detail, failure, uncounted });
    case 'not_found':
    case 'gone':
      return { ...ended(settled(sending), detail), failure };
    case 'invalid': {
      const form = nextForm(sending, outbound.text);
      // An earlier send of the same text was refused as well.
      const { uncertainSince: _, ...certain } = settled(sending);
      return form === null ? { ...ended(certain, detail), failure } : again(certain, { detail, failure, form, uncounted });
    }
  }
};

/** The send is over and did not arrive. Whether an earlier one of the same part did is not known. */
const settled = ({ state: _, ...sending }: DeliveryState): DeliveryState => ({ ...sending, state: 'prepared' });

/** As written, as plain text if that is another one, and, of several parts, as a mark that a part is missing. */
const nextForm = ({ form, parts }: DeliveryState, text: string): 'plain' | 'mark' | null => {
  const written = partIn(text, parts);
  if (form === undefined && plainTextOf(written) !== written) return 'plain';
  return form !== 'mark' && parts !== undefined ? 'mark' : null;
};

/** Prepared for another attempt. */
const again = (
  { uncertainSince, ...before }: DeliveryState,
  change: Partial<DeliveryState> & { detail: string; failure?: FailureClass },
): DeliveryState => {
  const since = uncertainSince ?? change.uncertainSince;
  const prepared = { ...before, ...change, state: 'prepared' as const, attempt: before.attempt + 1 };
  return since === undefined ? prepared : { ...prepared, uncertainSince: since };
};

/** No attempt follows: whether all, some or none of it arrived is what the state says. */
const ended = (before: DeliveryState, detail: string): DeliveryState => {
  const { attempt, parts, form } = before;
  const { failure } = before;
  const end = { attempt, detail, ...(parts && { parts }), ...(form && { form }), ...(failure && { failure }) };
  if (before.state === 'sending' || before.uncertainSince !== undefined) return { ...end, state: 'unknown' };
  return { ...end, state: parts && sentCount(parts) > 0 ? 'partial' : 'failed' };
};
