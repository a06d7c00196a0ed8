import type { CustodyRecord, CustodyState, Outbound } from '../../shared/ports/custody-log.ts';
import type { SendResult } from '../../shared/ports/outlet.ts';

/** The rules of custody, pure: what the conversation's last record says is to be done next with an outbound (I6, I9). */

/** States nothing follows. */
const finalStates: readonly CustodyState[] = ['delivered', 'unknown', 'suppressed', 'failed'];

/** A state to be written, and whether a send follows at once. */
export interface Mark {
  readonly state: CustodyState;
  readonly attempt: number;
  readonly detail?: string;
}

/** What the rules need to know of the way out; `undefined`: there is none. */
export interface Way {
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
 * The next record for `outbound`, given the last record of its conversation, or `null` when it has come to its end. A conversation is
 * served strictly in order, so its last record is a watermark: what comes before it is over. `sending` without an outcome means that its
 * sender was lost in between: only an outlet that recognises the id may be asked again.
 */
export const nextMark = (last: CustodyRecord | null, outbound: Outbound, way: Way | undefined): Mark | null => {
  if (last === null || comesAfter(outbound.id, last.outboundId)) {
    if (outbound.withheld !== undefined) return { state: 'suppressed', attempt: 0, detail: outbound.withheld };
    if (way === undefined) {
      return { state: 'failed', attempt: 0, detail: `no outlet for channel ${JSON.stringify(outbound.target.channel)}` };
    }
    return { state: 'prepared', attempt: 1 };
  }
  if (last.outboundId !== outbound.id || finalStates.includes(last.state)) return null;
  const { state, attempt, detail } = last;
  // The send policy may have changed since it was prepared.
  if (state === 'prepared' && outbound.withheld !== undefined) return { state: 'suppressed', attempt, detail: outbound.withheld };
  if (way === undefined) return { state: 'failed', attempt, detail: 'its outlet is gone from the configuration' };
  if (state === 'prepared') {
    return attempt > way.attempts
      ? { state: 'failed', attempt: attempt - 1, detail: `given up after ${attempt - 1} attempts; ${detail ?? 'no detail'}` }
      : { state: 'sending', attempt };
  }
  return way.idempotent
    ? { state: 'prepared', attempt: attempt + 1, detail: 'the outcome of the last attempt is not known' }
    : { state: 'unknown', attempt, detail: 'its sender was lost while sending' };
};

/** The record that follows attempt `attempt`, by what the outlet said. */
export const markAfter = (result: SendResult, attempt: number, way: Way): Mark => {
  const detail = result.detail === undefined ? {} : { detail: result.detail };
  switch (result.kind) {
    case 'sent':
      return { state: 'delivered', attempt, ...detail };
    case 'failed':
      return { state: 'failed', attempt, ...detail };
    case 'retry':
      return { state: 'prepared', attempt: attempt + 1, ...detail };
    case 'unknown':
      return way.idempotent ? { state: 'prepared', attempt: attempt + 1, ...detail } : { state: 'unknown', attempt, ...detail };
  }
};
