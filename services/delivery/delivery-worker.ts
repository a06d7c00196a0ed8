import { channelNameOf } from '../../shared/domain/values/channel-name.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { errorMessage, hasCode } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import type { Outlet, SendResult } from '../../shared/ports/outlet.ts';
import type { DeliveryLog } from './delivery-log.ts';
import { type DeliveryState, nextState, stateAfter } from './delivery-state.ts';
import { retryMs } from './retry.ts';
import { createSlots } from './slots.ts';

export interface DeliveryWorkerOptions {
  readonly outlets: readonly Outlet[];
  readonly deliveryLog: DeliveryLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Aborts when this process must not send or write any more. */
  readonly held: AbortSignal;
  /** Aborts when nothing new may begin. */
  readonly stopping: AbortSignal;
  /** Called before an outbound is recorded as failed, so that it is not lost. */
  deadLetter(outbound: Outbound, reason: string): Promise<void>;
  /** The outbound as it is now: its session may have been erased since. */
  revised(outbound: Outbound): Outbound;
  /** Called with each state once it is recorded. */
  recorded(state: DeliveryState, outbound: Outbound): void;
}

/**
 * Delivers an outbound: records a state, calls the outlet, records the outcome, until the state is final. Resolves with false when it had
 * to leave the outbound before that, because the service is stopping or has lost its lease. The caller keeps the order within a conversation.
 */
export const createDeliveryWorker = (options: DeliveryWorkerOptions) => {
  const { deliveryLog, clock, random, log, held, stopping, deadLetter, recorded, revised } = options;
  const channels = new Map(options.outlets.map((outlet) => [outlet.channel, channelOf(outlet)]));

  /** Records a state; false when another process has taken over the conversation. */
  const record = async (outbound: Outbound, state: DeliveryState): Promise<boolean> => {
    if (state.state === 'failed') await deadLetter(revised(outbound), state.detail ?? 'refused');
    if (!(await deliveryLog.write(outbound, state))) {
      log.warn({ outboundId: outbound.id, state: state.state }, 'another delivery service wrote to this conversation');
      return false;
    }
    recorded(state, outbound);
    const level = state.state === 'failed' || state.state === 'unknown' || state.attempt > 1 ? 'warn' : 'debug';
    log[level]({ outboundId: outbound.id, key: outbound.key, ...state }, 'custody');
    return true;
  };

  /** Records the intent, then calls the outlet. The slot is taken first, so that nothing recorded as `sending` is still waiting for one. */
  const send = (outbound: Outbound, sending: DeliveryState, { outlet, slots }: Channel): Promise<SendResult | null> =>
    slots.use(async () => {
      // The session may have been erased while this waited for a slot: then the next state is another one.
      if (stopping.aborted || revised(outbound).suppressedReason !== outbound.suppressedReason) return null;
      if (!(await record(outbound, sending)) || held.aborted) return null;
      return outlet
        .send(revised(outbound), held)
        .catch((error: unknown): SendResult => ({ kind: 'unknown', detail: errorMessage(error) }));
    });

  /**
   * One attempt: intent, send and outcome. Resolves with the milliseconds to wait before the next step, or with `null` when another process
   * has taken over the conversation or this one must stop.
   */
  const attempt = async (outbound: Outbound, sending: DeliveryState, channel: Channel): Promise<number | null> => {
    const result = await send(outbound, sending, channel);
    if (result === null || held.aborted) return null;
    const after = stateAfter(result, sending.attempt, channel);
    if (!(await record(outbound, after))) return null;
    if (after.state !== 'prepared') return 0;
    return retryMs(sending.attempt, random(), result.kind === 'retry' ? result.afterMs : 0);
  };

  /** One state after another, to the final one. */
  const toFinalState = async (outbound: Outbound): Promise<boolean> => {
    const channel = channels.get(outbound.target.channel) ?? channels.get(channelNameOf(outbound.target.channel));
    let collisions = 0;
    while (!stopping.aborted) {
      const { record: last } = await deliveryLog.last(outbound.target);
      const next = nextState(last, revised(outbound), channel);
      if (next === null) return true;
      const isSend = next.state === 'sending' && channel !== undefined;
      const pauseMs = isSend ? await attempt(outbound, next, channel) : (await record(outbound, next)) ? 0 : null;
      // The other process at work in this conversation gets more and more time to finish.
      if (pauseMs === null) collisions += 1;
      if (pauseMs !== 0) await clock.sleep(pauseMs ?? retryMs(collisions, random()), stopping);
    }
    return false;
  };

  /** Starts again while the broker is unavailable. */
  return async (outbound: Outbound): Promise<boolean> => {
    for (let failures = 0; !stopping.aborted; failures += 1) {
      try {
        return await toFinalState(outbound);
      } catch (error) {
        const level = held.aborted || hasCode(error, 'unavailable') ? 'debug' : 'error';
        log[level]({ err: error, outboundId: outbound.id }, 'a delivery failed; trying again');
        await clock.sleep(retryMs(failures, random()), stopping);
      }
    }
    return false;
  };
};

/** An outlet as the rules see it, with its slots. */
const channelOf = (outlet: Outlet) => ({
  outlet,
  slots: createSlots(limits.deliverySends),
  idempotent: outlet.idempotent,
  attempts: outlet.attempts ?? limits.deliveryAttempts,
});
type Channel = ReturnType<typeof channelOf>;
