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
  /** Called each time the gateway has accepted the stream: at first, and after `onWaiting`. */
  readonly onOpen?: () => void;
}

/** The gateway pings every 15 s, so a stream that is silent for longer than this is dead. */
const silentMs = 45_000;
/** A stream that lasted this long resets the backoff. */
const settledMs = 20_000;
/** Maximum length of one event in characters: several times that of a commit. */
const eventCharacters = 4 * 1024 * 1024;

/**
 * Events over SSE from the position `after`, without gaps or repeats, until the signal aborts or the reader leaves. Reconnects by
 * itself where it left off (`Last-Event-ID`), to any replica. Reads at most one network chunk ahead of the reader. The gateway
 * waits for a slow reader; if it waits too long, it closes the stream and states the position. Throws `NatterApiError` only for
 * errors that a retry cannot fix.
 */
export async function* followEvents(http: Http, options: FollowOptions): AsyncGenerator<StreamItem, void> {
  const { key, keyPrefix, types, after, live, onWaiting, onOpen } = options;
  const signal = options.signal ?? new AbortController().signal;
  const [, address] = key === undefined ? operationAt('readEvents', {}) : operationAt('readSessionEvents', { key });
  // The gateway refuses invalid combinations.
  const path = withQuery(address, { key: keyPrefix, deltas: live || undefined, type: types, after });
  let cursor: string | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    const began = performance.now();
    let reason = 'the stream ended';
    let leastMs = 0;
    try {
      const begun = (place: string): unknown => (cursor = place);
      for await (const message of messagesOf(http, path, cursor, signal, { opened: onOpen, begun })) {
        if (signal.aborted) return;
        cursor = message.id ?? cursor;
        const data = dataOf(message);
        // If the stream ended for good, the next attempt is refused.
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
 * The messages of one connection. `begun` gets the position the stream starts after. A server that accepts the request but sends
 * nothing counts as silent too.
 */
async function* messagesOf(
  http: Http,
  path: string,
  lastEventId: string | undefined,
  outer: AbortSignal,
  { opened, begun }: { readonly opened: (() => void) | undefined; readonly begun: (place: string) => unknown },
): AsyncGenerator<EventSourceMessage> {
  const headers = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
  const messages: EventSourceMessage[] = [];
  let tooLong = false;
  const parser = createParser({
    maxBufferSize: eventCharacters,
    onEvent: (message) => messages.push(message),
    // The gateway first sends its start position in a comment, because the parser returns an id only with an event.
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
    opened?.();
    silence.begin();
    for await (const text of textOf(response, silence.signal)) {
      // The timer stops while the reader is busy.
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

const dataOf = ({ data }: EventSourceMessage): unknown => {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new NatterApiError(0, { detail: 'an event is not JSON; is this the address of a Natter gateway?' }, { cause });
  }
};
