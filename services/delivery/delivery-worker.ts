import { channelNameOf } from '../../shared/domain/values/channel-name.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { errorMessage, hasCode } from '../../shared/kit/errors.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import type { FindResult, Outlet, SendResult } from '../../shared/ports/outlet.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { conversationOf, type DeliveryLog } from './delivery-log.ts';
import {
  afterFind,
  afterSend,
  type DeliveryState,
  hasNotArrived,
  isFinal,
  nextStep,
  type OutletTraits,
  type Step,
} from './delivery-state.ts';
import type { ParkedAccounts } from './parked-accounts.ts';
import { outboundPart } from './parts/custody-parts.ts';
import { retryMs } from './retry.ts';
import { createSlots, type Slots } from './slots.ts';

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
  readonly accounts: ParkedAccounts;
  /** Called before an outbound is recorded as unknown, failed or partial, so that it is not lost and somebody knows it. */
  report(outbound: Outbound, state: DeliveryState): Promise<void>;
  /** The outbound as it is now: its session may have been erased since. */
  revised(outbound: Outbound): Outbound;
  /** Called with each state once it is recorded. */
  recorded(state: DeliveryState, outbound: Outbound): void;
}

/** An outbound that nothing can be done for until `until` (ms since 1970), nor for others of its conversation or account, the `scope`. */
export interface Waiting {
  readonly scope: string;
  readonly until: number;
  /** Why the last attempt failed. */
  readonly detail: string;
  /** How many there were, of a conversation. */
  readonly attempts?: number;
}
/** How a delivery ended: in a final state, left before that, or it waits. */
export type Delivered = 'final' | 'left' | Waiting;

/** Milliseconds to wait in place before the next step; `collided`: another process has written to the conversation. */
type Pause = number | 'collided' | Waiting;

/** In place if it is short. */
const pauseUntil = (waiting: Waiting, now: number): Pause => {
  const ms = waiting.until - now;
  return ms > deliveryLimits.holdMs ? waiting : Math.max(1, ms);
};

/**
 * Delivers an outbound: records a state, calls the outlet for one part after another, records the outcome, until the state is final (I6).
 * Resolves with `left` when the service is stopping or has lost its lease, and with what it waits for when that takes longer than
 * `deliveryLimits.holdMs`. The caller keeps the order within a conversation.
 */
export const createDeliveryWorker = (options: DeliveryWorkerOptions) => {
  const { deliveryLog, clock, random, log, held, stopping, accounts, revised } = options;
  const record = createRecorder(options);
  const channels = new Map(options.outlets.map((outlet) => [outlet.channel, channelOf(outlet)]));

  /** Records the intent, then calls the outlet. The slot is taken first, so that nothing recorded as `sending` is still waiting for one. */
  const send = (outbound: Outbound, sending: DeliveryState, { outlet, slots }: Channel): Promise<SendResult | null> =>
    slots.use(async () => {
      // The session may have been erased while this waited for a slot: then the next state is another one.
      if (stopping.aborted || revised(outbound).suppressedReason !== outbound.suppressedReason) return null;
      if (!(await record(outbound, sending)) || held.aborted) return null;
      return outlet
        .send(outboundPart(revised(outbound), sending), held)
        .catch((error: unknown): SendResult => ({ kind: 'unknown', detail: errorMessage(error) }));
    });

  /** One attempt at a part: intent, send and outcome. */
  const attempt = async (outbound: Outbound, sending: DeliveryState, channel: Channel): Promise<Pause> => {
    const wait = accounts.waitOf(outbound.target);
    if (wait !== null) return pauseUntil(wait, clock.now());
    let result: SendResult | null = null;
    const at = clock.now();
    try {
      result = await send(outbound, sending, channel);
    } finally {
      result = accounts.tried(outbound.target, result);
    }
    if (result === null || held.aborted) return 'collided';
    const after = afterSend(result, sending, {
      outbound,
      outlet: channel.traits,
      at,
      now: clock.now(),
      retryMs: Math.round(retryMs(sending.attempt, random())),
    });
    if (after === null) log.warn({ outboundId: outbound.id, detail: result.detail }, 'nobody knows whether it was sent; asking');
    return after === null || (await record(outbound, after)) ? 0 : 'collided';
  };

  /** Asks the platform what became of a send, and records it. */
  const ask = async (outbound: Outbound, { sending, around }: Step & { kind: 'ask' }, { outlet }: Channel): Promise<Pause> => {
    const { unknownSend } = outlet;
    if (unknownSend.by !== 'ask' || held.aborted) return 'collided';
    const found = await unknownSend
      .find(outboundPart(revised(outbound), sending), around, held)
      .catch((error: unknown): FindResult => ({ kind: 'unresolved', detail: errorMessage(error) }));
    const now = clock.now();
    const after = afterFind(found, sending, { at: around, now, settlesMs: unknownSend.settlesMs });
    if (after !== null) return (await record(outbound, after)) ? 0 : 'collided';
    return retryMs(Math.log2(1 + Math.max(0, now - around) / 1_000), random());
  };

  const take = async (step: Step, outbound: Outbound, channel: Channel | undefined): Promise<Pause> => {
    if (step.kind === 'wait') return pauseUntil({ ...step, scope: conversationOf(outbound.target) }, clock.now());
    if (step.kind === 'send' && channel) return attempt(outbound, step.state, channel);
    if (step.kind === 'ask' && channel) return ask(outbound, step, channel);
    return 'state' in step && (await record(outbound, step.state)) ? 0 : 'collided';
  };

  /** One state after another, to the final one. */
  const toFinalState = async (outbound: Outbound): Promise<Delivered> => {
    const channel = channels.get(outbound.target.channel) ?? channels.get(channelNameOf(outbound.target.channel));
    let collisions = 0;
    while (!stopping.aborted) {
      const { record: last } = await deliveryLog.last(outbound.target);
      const step = nextStep(last, revised(outbound), channel?.traits, clock.now());
      if (step === null) return 'final';
      const pause = await take(step, outbound, channel);
      if (typeof pause === 'object') return pause;
      // The other process at work in this conversation gets more and more time to finish.
      if (pause === 'collided') collisions += 1;
      if (pause !== 0) await clock.sleep(pause === 'collided' ? retryMs(collisions, random()) : pause, stopping);
    }
    return 'left';
  };

  return untilAvailable(toFinalState, options);
};

type Deliver = (outbound: Outbound) => Promise<Delivered>;

/** Starts again while the broker is unavailable. */
const untilAvailable =
  (deliver: Deliver, { held, stopping, log, clock, random }: DeliveryWorkerOptions): Deliver =>
  async (outbound) => {
    for (let failures = 0; !stopping.aborted; failures += 1) {
      try {
        return await deliver(outbound);
      } catch (error) {
        const level = held.aborted || hasCode(error, 'unavailable') ? 'debug' : 'error';
        log[level]({ err: error, outboundId: outbound.id }, 'a delivery failed; trying again');
        await clock.sleep(retryMs(failures, random()), stopping);
      }
    }
    return 'left';
  };

/** Records a state; false when another process has taken over the conversation. */
const createRecorder =
  ({ deliveryLog, log, report, recorded, revised }: DeliveryWorkerOptions) =>
  async (outbound: Outbound, state: DeliveryState): Promise<boolean> => {
    if (hasNotArrived(state)) await report(revised(outbound), state);
    if (!(await deliveryLog.write(outbound, state))) {
      log.warn({ outboundId: outbound.id, state: state.state }, 'another delivery service wrote to this conversation');
      return false;
    }
    recorded(state, outbound);
    const isSmooth =
      (!isFinal(state.state) && state.attempt === 1) || state.state === 'delivered' || state.state === 'suppressed';
    log[isSmooth ? 'debug' : 'warn']({ outboundId: outbound.id, key: outbound.key, ...state }, 'custody');
    return true;
  };

/** An outlet with its slots, and as the rules see it. */
const channelOf = (outlet: Outlet): Channel => ({
  outlet,
  slots: createSlots(deliveryLimits.sends),
  traits: { ...outlet, attempts: outlet.attempts ?? deliveryLimits.attempts },
});
interface Channel {
  readonly outlet: Outlet;
  readonly slots: Slots;
  readonly traits: OutletTraits;
}
