import { effect, signal } from '@preact/signals';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { away } from './away.ts';
import { client, problemOf, who } from './signed-in.ts';

/** The one stream of events of all sessions, for lists. It goes on by itself where it was. */

type Listener = (event: NatterEvent) => void;
const listeners = new Set<Listener>();

/** Why the stream waits at the moment; `null` while it flows. */
export const streamProblem = signal<string | null>(null);

/** Calls `listener` with each event from now on, until the function that it returns is called. */
export const onEvent = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const follow = async (signal: AbortSignal): Promise<void> => {
  try {
    for await (const item of client.events({ signal, onWaiting: away(streamProblem, signal) })) {
      streamProblem.value = null;
      if ('seq' in item && 'rev' in item) for (const listener of listeners) listener(item);
    }
  } catch (error) {
    if (!signal.aborted) streamProblem.value = problemOf(error);
  }
};

/** Follows the events of whoever is signed in. */
export const followEvents = (): void => {
  effect(() => {
    if (!who.value) return undefined;
    const controller = new AbortController();
    void follow(controller.signal);
    return () => controller.abort();
  });
};
