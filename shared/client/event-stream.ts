import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isTransient, NatterApiError } from './errors.ts';
import { type Http, sessionPath, withQuery } from './http.ts';
import { backoffMs, pause } from './pause.ts';
import { itemOf } from './stream-item.ts';
import type { EventFilter, StreamItem } from './types.ts';

export interface FollowOptions extends EventFilter {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Is told why the stream has to begin again, each time it has to. */
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
  const query = key === undefined ? { key: keyPrefix } : { deltas: live };
  const path = withQuery(key === undefined ? '/v1/events' : sessionPath(key, '/events'), { ...query, type: types, after });
  let cursor: string | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    const began = performance.now();
    let reason = 'the stream ended';
    let leastMs = 0;
    try {
      for await (const message of messagesOf(http, path, cursor, signal, (place) => (cursor = place))) {
        cursor = message.id ?? cursor;
        // What ends a stream for good is told to the next attempt as well, in the words of a refusal.
        if (message.event === 'error') reason = detailIn(message);
        else {
          failures = 0;
          yield itemOf(message.event, JSON.parse(message.data));
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
    await pause(Math.max(leastMs, backoffMs(failures)), signal);
  }
}

const detailIn = ({ data }: EventSourceMessage): string => {
  const { code = '', detail = '' } = JSON.parse(data) as { code?: string; detail?: string };
  return detail || code;
};

/** The messages of one connection. `begun` is told the place it begins after. */
async function* messagesOf(
  http: Http,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
  begun: (place: string) => void,
): AsyncGenerator<EventSourceMessage> {
  const headers = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
  const response = await headOf(http, path, headers, signal);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null)
    throw new NatterApiError(response.status, {
      detail: 'the answer is no event stream; is this the address of a Natter gateway?',
    });
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
  const decoder = new TextDecoder();
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  // Node 20's fetch holds its signal weakly and may forget it during a long body, so the body is ended here as well.
  const cut = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cut);
  if (signal.aborted) cut();
  try {
    for (;;) {
      const silence = setTimeout(cut, silentMs);
      const part = await reader
        .read()
        .catch((cause: unknown) => Promise.reject(broken(http.url, cause)))
        .finally(() => clearTimeout(silence));
      if (part.done) return;
      parser.feed(decoder.decode(part.value, { stream: true }));
      yield* messages.splice(0);
      if (tooLong) throw new NatterApiError(response.status, { detail: `an event of more than ${eventCharacters} characters` });
    }
  } finally {
    signal.removeEventListener('abort', cut);
    cut();
  }
}

/** The head of the answer. Who takes the call and says nothing is as far away as one who falls silent later. */
const headOf = async (http: Http, path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => {
  const over = new AbortController();
  const leave = (): void => over.abort();
  const lateness = setTimeout(leave, silentMs);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    return await http.open(path, headers, over.signal);
  } finally {
    clearTimeout(lateness);
    signal.removeEventListener('abort', leave);
  }
};

const broken = (url: string, cause: unknown): NatterApiError =>
  new NatterApiError(0, { code: 'unreachable', detail: `the stream from ${url} broke off` }, { cause });
