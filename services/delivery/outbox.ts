import { limits } from '../../shared/kit/limits.ts';
import { Signal } from '../../shared/kit/signal.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import { conversationOf } from './delivery-log.ts';

export interface OutboxOptions {
  /** Everything up to this sequence is done. */
  readonly after: number;
  /** Aborts when there is nothing left to wait for. */
  readonly held: AbortSignal;
  /** Brings an outbound to its final state; false when it had to leave it before that. */
  deliver(outbound: Outbound): Promise<boolean>;
}

/**
 * The window of outbounds in hand. Each conversation is a chain, so its outbounds go out strictly in the order of the log. Chains run in
 * parallel: one that hangs holds up only itself and the cursor.
 */
export const createOutbox = ({ after, held, deliver }: OutboxOptions) => {
  /** Outbounds not yet final, per commit, in log order: the first one bounds the cursor. */
  const unfinished = new Map<number, number>();
  const chains = new Map<string, Promise<void>>();
  let head = after;
  let count = 0;
  let characters = 0;
  const finished = new Signal();

  const waitUntil = async (condition: () => boolean): Promise<void> => {
    while (!condition() && !held.aborted) await finished.wait(held);
  };

  const finish = ({ seq, text }: Outbound, isFinal: boolean): void => {
    count -= 1;
    characters -= text.length;
    const left = (unfinished.get(seq) ?? 0) - 1;
    if (isFinal && left > 0) unfinished.set(seq, left);
    if (isFinal && left <= 0) unfinished.delete(seq);
    finished.notify();
  };

  const enqueue = (outbound: Outbound): void => {
    const conversation = conversationOf(outbound.target);
    count += 1;
    characters += outbound.text.length;
    unfinished.set(outbound.seq, (unfinished.get(outbound.seq) ?? 0) + 1);
    const chain = (chains.get(conversation) ?? Promise.resolve()).then(async () => {
      finish(outbound, await deliver(outbound));
      if (chains.get(conversation) === chain) chains.delete(conversation);
    });
    chains.set(conversation, chain);
  };

  return {
    /** Takes the outbounds of the commit at `seq`, as soon as the window has room. */
    async accept(seq: number, outbounds: readonly Outbound[]): Promise<void> {
      if (outbounds.length > 0)
        await waitUntil(() => count < limits.deliveryWindow && characters < limits.deliveryWindowCharacters);
      if (held.aborted) return;
      for (const outbound of outbounds) enqueue(outbound);
      head = seq;
    },
    /** The sequence up to which everything is in a final state. */
    position: (): number => {
      const first = unfinished.keys().next();
      return first.done ? head : first.value - 1;
    },
    /** Resolves when nothing is in hand, or the lease is lost. */
    settled: () => waitUntil(() => count === 0),
    inHand: () => count,
    conversations: () => chains.size,
  };
};
export type Outbox = ReturnType<typeof createOutbox>;
