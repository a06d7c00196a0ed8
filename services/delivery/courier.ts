import type { Clock } from '../../shared/kit/clock.ts';
import { errorMessage, hasCode } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import type { Outlet, SendResult } from '../../shared/ports/outlet.ts';
import type { Custodian } from './custodian.ts';
import { type Mark, markAfter, nextMark } from './custody.ts';
import { retryMs } from './retry.ts';
import { createSlots } from './slots.ts';

export interface CourierOptions {
  readonly outlets: readonly Outlet[];
  readonly custodian: Custodian;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Aborts when we must not send or write any more. */
  readonly held: AbortSignal;
  /** Aborts when nothing new is to be begun. */
  readonly stopping: AbortSignal;
  /** Called before an outbound is recorded as failed: it must not be lost from sight. */
  giveUp(outbound: Outbound, reason: string): Promise<void>;
  /** The outbound as it is now: something may have come between. */
  revised(outbound: Outbound): Outbound;
  /** Called with each mark once it is recorded. */
  marked(mark: Mark, outbound: Outbound): void;
}

/** Takes one outbound at a time per conversation from the log to its outlet, one custody record after the other. */
export const createCourier = (options: CourierOptions) => {
  const { custodian, clock, random, log, held, stopping, giveUp, marked, revised } = options;
  const ways = new Map(options.outlets.map((outlet) => [outlet.channel, wayOf(outlet)]));

  /** Records a mark; false when the conversation was somebody else's meanwhile. */
  const record = async (outbound: Outbound, mark: Mark): Promise<boolean> => {
    if (mark.state === 'failed') await giveUp(revised(outbound), mark.detail ?? 'refused');
    if (!(await custodian.write(outbound, mark))) {
      log.warn({ outboundId: outbound.id, state: mark.state }, 'another delivery service wrote to this conversation');
      return false;
    }
    marked(mark, outbound);
    const level = mark.state === 'failed' || mark.state === 'unknown' || mark.attempt > 1 ? 'warn' : 'debug';
    log[level]({ outboundId: outbound.id, key: outbound.key, ...mark }, 'custody');
    return true;
  };

  /**
   * A recorded intent, a send and its recorded outcome. Resolves with the milliseconds to wait before the next step, or `null` when the
   * conversation was somebody else's meanwhile or we must stop. The slot is taken first: `sending` is said of nothing that waits.
   */
  const attempt = async (outbound: Outbound, mark: Mark, way: OutletWay): Promise<number | null> => {
    const result = await way.slots.use(async (): Promise<SendResult | null> => {
      // While it waited for its place, its session may have been erased: then the next look says so.
      if (stopping.aborted || revised(outbound).withheld !== outbound.withheld) return null;
      if (!(await record(outbound, mark)) || held.aborted) return null;
      return way.outlet
        .send(revised(outbound), held)
        .catch((error: unknown): SendResult => ({ kind: 'unknown', detail: errorMessage(error) }));
    });
    if (result === null || held.aborted) return null;
    const after = markAfter(result, mark.attempt, way);
    if (!(await record(outbound, after))) return null;
    return after.state === 'prepared' ? retryMs(mark.attempt, random(), result.kind === 'retry' ? result.afterMs : 0) : 0;
  };

  /** Brings an outbound to its final state. False when it was left before that, because we are stopping or the lease is lost. */
  const carry = async (outbound: Outbound): Promise<boolean> => {
    const way = ways.get(outbound.target.channel);
    let collisions = 0;
    while (!stopping.aborted) {
      const { record: last } = await custodian.last(outbound.target);
      const mark = nextMark(last, revised(outbound), way);
      if (mark === null) return true;
      const isSend = mark.state === 'sending' && way !== undefined;
      const pauseMs = isSend ? await attempt(outbound, mark, way) : (await record(outbound, mark)) ? 0 : null;
      // Whoever else is at work in this conversation is given ever more time to finish.
      if (pauseMs === null) collisions += 1;
      if (pauseMs !== 0) await clock.sleep(pauseMs ?? retryMs(collisions, random()), stopping);
    }
    return false;
  };

  /** As `carry`, and begins again while the broker is away. */
  return async (outbound: Outbound): Promise<boolean> => {
    for (let failures = 0; !stopping.aborted; failures += 1) {
      try {
        return await carry(outbound);
      } catch (error) {
        const level = held.aborted || hasCode(error, 'unavailable') ? 'debug' : 'error';
        log[level]({ err: error, outboundId: outbound.id }, 'an outbound waits');
        await clock.sleep(retryMs(failures, random()), stopping);
      }
    }
    return false;
  };
};

/** A way out as the rules see it, with its places. */
const wayOf = (outlet: Outlet) => ({
  outlet,
  slots: createSlots(limits.deliverySends),
  idempotent: outlet.idempotent,
  attempts: outlet.attempts ?? limits.deliveryAttempts,
});
type OutletWay = ReturnType<typeof wayOf>;
