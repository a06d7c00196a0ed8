import { effect, signal } from '@preact/signals';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { away } from './away.ts';
import { client, problemOf, who } from './signed-in.ts';

/** The one stream of events of all sessions, for lists. It goes on by itself where it was. */

type Listener = (event: NatterEvent) => void;
const listeners = new Set<Listener>();

/** Why the stream waits at the moment; `null` while it flows. */
export const streamProblem = signal<string | null>(null);

export const onEvent = (listener: Listener): void => {
  listeners.add(listener);
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
