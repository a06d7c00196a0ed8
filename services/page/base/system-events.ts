import { computed, effect, signal } from '@preact/signals';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { away } from './away.ts';
import { client, endLink, problemOf, who } from './signed-in.ts';

/** The one stream of events of all sessions, for lists; of a link the stream of its session. It goes on by itself where it was. */

type Listener = (event: NatterEvent) => void;
const listeners = new Set<Listener>();

/** Why the stream waits at the moment; `null` while it flows. */
export const streamWaits = signal<string | null>(null);
/** Why the stream ended for good. */
const streamEnd = signal<string | null>(null);
/** Why nothing new is told, in words; `null` while it is. */
export const streamProblem = computed(() =>
  streamWaits.value === null
    ? streamEnd.value && `Nothing new is shown: ${streamEnd.value}`
    : 'No connection to the gateway. The page keeps trying, and goes on by itself.',
);

/** Calls `listener` with each event from now on, until the function that it returns is called. */
export const onEvent = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const follow = async (signal: AbortSignal): Promise<void> => {
  const onWaiting = away(streamWaits, signal);
  // A stream may be silent for long before it is known to be cut: the browser knows first.
  addEventListener('offline', () => onWaiting('This computer is offline.'), { signal });
  try {
    const key = who.peek()?.sessionKey;
    for await (const item of client.events({ signal, onWaiting, ...(key !== undefined && { key }) })) {
      streamWaits.value = null;
      if ('seq' in item && 'rev' in item) for (const listener of listeners) listener(item);
    }
  } catch (error) {
    if (signal.aborted) return;
    endLink(error);
    streamEnd.value = problemOf(error);
  }
};

/** Follows the events of whoever is signed in. */
export const followEvents = (): void => {
  effect(() => {
    if (!who.value) return undefined;
    const controller = new AbortController();
    streamEnd.value = null;
    void follow(controller.signal);
    return () => controller.abort();
  });
};
