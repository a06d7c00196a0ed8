import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { textOf } from './body.ts';
import { isTransient, NatterApiError, problemFrom, unreachable } from './errors.ts';
import { type Http, withQuery } from './http.ts';
import { Limit } from './limit.ts';
import { operationAt } from './operation-at.ts';
import { pause, retryMs } from './pause.ts';
import { itemOf } from './stream-item.ts';
import type { EventFilter, StreamItem } from './types.ts';

export interface FollowOptions extends EventFilter {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Called with the reason each time the stream has to reconnect. */
  readonly onWaiting?: (reason: string) => void;
}

/** The gateway pings every 15 s: a stream that is silent for longer than this has lost its other end. */
const silentMs = 45_000;
/** A stream that has lived so long is none of those that fail at once. */
const settledMs = 20_000;
/** Characters of one event: several times what a commit may have. */
const eventCharacters = 4 * 1024 * 1024;

/**
 * Events over SSE, from the place that `after` names, without gap or repeat, until the signal aborts or the reader leaves. Begins again by
 * itself where it was (`Last-Event-ID`), on whichever replica. Nothing is read ahead of the reader but one portion of the network's: the
 * gateway waits for it, and closes with the place where it stands when it waits too long. Throws `NatterApiError` only for what a new
 * attempt cannot mend.
 */
export async function* followEvents(http: Http, options: FollowOptions): AsyncGenerator<StreamItem, void> {
  const { key, keyPrefix, types, after, live, onWaiting } = options;
  const signal = options.signal ?? new AbortController().signal;
  const [, address] = key === undefined ? operationAt('readEvents', {}) : operationAt('readSessionEvents', { key });
  // What does not go together is the gateway's to refuse.
  const path = withQuery(address, { key: keyPrefix, deltas: live || undefined, type: types, after });
  let cursor: string | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    const began = performance.now();
    let reason = 'the stream ended';
    let leastMs = 0;
    try {
      for await (const message of messagesOf(http, path, cursor, signal, (place) => (cursor = place))) {
        if (signal.aborted) return;
        cursor = message.id ?? cursor;
        const data = dataOf(message);
        // A permanent end of a stream shows at the next attempt too, as a refusal.
        if (message.event === 'error') reason = new NatterApiError(0, problemFrom(data)).message;
        else {
          failures = 0;
          yield itemOf(message.event, data);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      reason = error.message;
      leastMs = error.retryAfterMs ?? 0;
    }
    if (signal.aborted) return;
    onWaiting?.(reason);
    if (performance.now() - began > settledMs) failures = 0;
    await pause(Math.max(leastMs, retryMs(failures)), signal);
  }
}

/**
 * The messages of one connection. `begun` is told the place it begins after. Who takes the call and says nothing is as far away as one who
 * falls silent later.
 */
async function* messagesOf(
  http: Http,
  path: string,
  lastEventId: string | undefined,
  outer: AbortSignal,
  begun: (place: string) => void,
): AsyncGenerator<EventSourceMessage> {
  const headers = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
  const messages: EventSourceMessage[] = [];
  let tooLong = false;
  const parser = createParser({
    maxBufferSize: eventCharacters,
    onEvent: (message) => messages.push(message),
    // The gateway begins with the place it starts after; the parser hands out an id only with an event.
    onComment: (comment) => {
      const place = /^\s*after (\S+)/.exec(comment)?.[1];
      if (place !== undefined) begun(place);
    },
    onError: ({ type }) => {
      tooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  const silence = new Limit(silentMs, () => unreachable(http.url, 'it is silent'), outer);
  try {
    const response = await http.open(path, headers, silence.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      void response.body?.cancel().catch(() => {});
      throw unexpected(response, 'the answer is no event stream; is this the address of a Natter gateway?');
    }
    silence.begin();
    for await (const text of textOf(response, silence.signal)) {
      // Who waits for the reader is not silent.
      silence.rest();
      parser.feed(text);
      yield* messages.splice(0);
      if (tooLong) throw unexpected(response, `an event of more than ${eventCharacters} characters`);
      silence.begin();
    }
  } finally {
    silence.end();
  }
}

const unexpected = ({ status }: Response, detail: string): NatterApiError => new NatterApiError(status, { detail });

/** The JSON of a message. */
const dataOf = ({ data }: EventSourceMessage): unknown => {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new NatterApiError(0, { detail: 'an event is not JSON; is this the address of a Natter gateway?' }, { cause });
  }
};
