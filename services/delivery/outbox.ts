import type { WaitingDelivery } from '../../shared/domain/values/delivery.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { limits } from '../../shared/kit/limits.ts';
import { Signal } from '../../shared/kit/signal.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { conversationOf } from './delivery-log.ts';
import type { Delivered } from './delivery-worker.ts';
import { type Reading, WaitingScopes } from './waiting.ts';

export interface OutboxOptions {
  /** Everything up to this sequence is done. */
  readonly after: number;
  /** Aborts when there is nothing left to wait for. */
  readonly held: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Brings an outbound to its final state, unless it has to leave it or to wait before that. */
  deliver(outbound: Outbound): Promise<Delivered>;
}

/** The outbounds of a conversation that are in hand. */
interface Chain {
  length: number;
  end: Promise<void>;
}

/**
 * The window of outbounds in hand. Each conversation is a chain, so its outbounds go out strictly in the order of the log. Chains run in
 * parallel: one that hangs holds up only itself and the cursor. What has to wait long is dropped from the window and read again later, and
 * so is what exceeds `deliveryLimits.chain` in one conversation.
 */
export const createOutbox = ({ after, held, clock, deliver }: OutboxOptions) => {
  /** Outbounds not yet final, per commit: the first one bounds the cursor. */
  const unfinished = new Map<number, number>();
  const chains = new Map<string, Chain>();
  const waiting = new WaitingScopes();
  let head = after;
  let count = 0;
  let characters = 0;
  const changes = createChanges(held);
  const hasRoom = (): boolean => count < limits.deliveryWindow && characters < deliveryLimits.windowCharacters;

  const finish = ({ seq, text }: Outbound, isLeft: boolean): void => {
    count -= 1;
    characters -= text.length;
    if (!isLeft) countDown(unfinished, seq);
    changes.notify();
  };

  /** Delivers, or makes it wait. Without room to wait it holds its place. */
  const deliverOrWait = async (outbound: Outbound): Promise<void> => {
    while (!held.aborted && !waiting.holdsBack(outbound)) {
      const outcome = await deliver(outbound);
      if (typeof outcome !== 'object') return finish(outbound, outcome === 'left');
      const { scope, until, detail, attempts } = outcome;
      if (waiting.add(scope, { seq: outbound.seq, until, first: { detail, attempts, sessionKey: outbound.key } })) break;
      await clock.sleep(deliveryLimits.holdMs, held);
    }
    finish(outbound, held.aborted);
  };

  const enqueue = (outbound: Outbound): void => {
    const { seq, text, target } = outbound;
    const conversation = conversationOf(target);
    const chain = chains.get(conversation) ?? { length: 0, end: Promise.resolve() };
    if (chain.length >= deliveryLimits.chain && waiting.add(conversation, { seq, until: 0 })) return;
    count += 1;
    characters += text.length;
    unfinished.set(seq, (unfinished.get(seq) ?? 0) + 1);
    chains.set(conversation, chain);
    chain.length += 1;
    chain.end = chain.end.then(async () => {
      await deliverOrWait(outbound);
      chain.length -= 1;
      if (chain.length === 0) chains.delete(conversation);
    });
  };

  return {
    /** Takes the outbounds of the commit at `seq`, as soon as the window has room. */
    async accept(seq: number, outbounds: readonly Outbound[]): Promise<void> {
      if (outbounds.length > 0) await changes.until(hasRoom);
      if (held.aborted) return;
      for (const outbound of outbounds) if (!waiting.holds(outbound)) enqueue(outbound);
      head = seq;
    },
    /** What waited and is due now, to be read again. */
    due: (now: number): Reading | null => waiting.due(now, (scope) => chains.has(scope)),
    /** Takes those outbounds of the commit at `seq` again that are due. False when nothing more of this reading is needed. */
    async acceptAgain(seq: number, outbounds: readonly Outbound[], reading: Reading): Promise<boolean> {
      for (const outbound of outbounds) {
        if (!reading.covers(outbound)) continue;
        await changes.until(hasRoom);
        if (!held.aborted && reading.covers(outbound) && !waiting.holds(outbound, reading)) enqueue(outbound);
      }
      if (seq >= head) reading.done();
      return !reading.isOver() && !held.aborted;
    },
    /** Makes an account or a conversation due. */
    wake: (scope: string): void => waiting.wake(scope),
    /** The sequence up to which everything is in a final state. */
    position: (): number => {
      const first = Math.min(waiting.firstSeq(), ...unfinished.keys());
      return Number.isFinite(first) ? first - 1 : head;
    },
    /** Resolves when nothing is in hand, or the lease is lost. */
    settled: () => changes.until(() => count === 0),
    inHand: () => count,
    waiting: () => waiting.size,
    waits: (parked: readonly WaitingDelivery[]) => waiting.report(parked),
    conversations: () => chains.size,
  };
};
/** Wakes everybody who waits for something to be finished. */
const createChanges = (held: AbortSignal) => {
  const watchers = new Set<Signal>();
  return {
    notify: (): void => {
      for (const watcher of watchers) watcher.notify();
    },
    /** Resolves once the condition holds, or there is nothing left to wait for. */
    until: async (condition: () => boolean): Promise<void> => {
      const changed = new Signal();
      watchers.add(changed);
      while (!condition() && !held.aborted) await changed.wait(held);
      watchers.delete(changed);
    },
  };
};
export type Outbox = ReturnType<typeof createOutbox>;

const countDown = (counts: Map<number, number>, seq: number): void => {
  const left = (counts.get(seq) ?? 0) - 1;
  if (left > 0) counts.set(seq, left);
  else counts.delete(seq);
};
