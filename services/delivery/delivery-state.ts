import type { CustodyRecord, CustodyState, Outbound } from '../../shared/ports/custody-log.ts';
import type { SendResult } from '../../shared/ports/outlet.ts';

/** The rules of custody, pure: given the conversation's last record, what to record next for an outbound (I6, I9). */

/** No other state follows these. */
const finalStates: readonly CustodyState[] = ['delivered', 'unknown', 'suppressed', 'failed'];

/** The state of an outbound, as a custody record says it. After `sending` the outlet is called at once. */
export interface DeliveryState {
  readonly state: CustodyState;
  readonly attempt: number;
  readonly detail?: string;
}

/** What the rules need to know about an outlet. */
export interface OutletTraits {
  readonly idempotent: boolean;
  readonly attempts: number;
}

/** Order of outbounds: by commit, then by event. */
const comesAfter = (id: string, than: string): boolean => {
  const [seq = 0, index = 0] = id.split('.').map(Number);
  const [thanSeq = 0, thanIndex = 0] = than.split('.').map(Number);
  return seq === thanSeq ? index > thanIndex : seq > thanSeq;
};

/**
 * The next state of `outbound`, given the last record of its conversation; `null` when it is in a final state. A conversation is delivered
 * strictly in order, so its last record is a watermark: everything before it is done. `sending` without an outcome means that the process
 * that sent it was lost: only an outlet that recognises the id may be called again. `outlet` is `undefined` when the channel has none.
 */
export const nextState = (
  last: CustodyRecord | null,
  outbound: Outbound,
  outlet: OutletTraits | undefined,
): DeliveryState | null => {
  if (last === null || comesAfter(outbound.id, last.outboundId)) {
    if (outbound.suppressedReason !== undefined) return { state: 'suppressed', attempt: 0, detail: outbound.suppressedReason };
    if (outlet === undefined) {
      return { state: 'failed', attempt: 0, detail: `no outlet for channel ${JSON.stringify(outbound.target.channel)}` };
    }
    return { state: 'prepared', attempt: 1 };
  }
  if (last.outboundId !== outbound.id || finalStates.includes(last.state)) return null;
  const { state, attempt, detail } = last;
  // The send policy may have changed since this was prepared.
  if (state === 'prepared' && outbound.suppressedReason !== undefined) {
    return { state: 'suppressed', attempt, detail: outbound.suppressedReason };
  }
  if (outlet === undefined) return { state: 'failed', attempt, detail: 'its outlet was removed from the configuration' };
  if (state === 'prepared') {
    return attempt > outlet.attempts
      ? { state: 'failed', attempt: attempt - 1, detail: `gave up after ${attempt - 1} attempts; ${detail ?? 'no detail'}` }
      : { state: 'sending', attempt };
  }
  return outlet.idempotent
    ? { state: 'prepared', attempt: attempt + 1, detail: 'the outcome of the last attempt is unknown' }
    : { state: 'unknown', attempt, detail: 'the process was lost while sending' };
};

/** The state after attempt `attempt`, by what the outlet answered. */
export const stateAfter = (result: SendResult, attempt: number, outlet: OutletTraits): DeliveryState => {
  const detail = result.detail === undefined ? {} : { detail: result.detail };
  switch (result.kind) {
    case 'sent':
      return { state: 'delivered', attempt, ...detail };
    case 'failed':
      return { state: 'failed', attempt, ...detail };
    case 'retry':
      return { state: 'prepared', attempt: attempt + 1, ...detail };
    case 'unknown':
      return outlet.idempotent
        ? { state: 'prepared', attempt: attempt + 1, ...detail }
        : { state: 'unknown', attempt, ...detail };
  }
};
