import type { SessionKey } from '../../domain/keys/session-key.ts';
import { limits } from '../../kit/limits.ts';
import type { Delta, Live } from '../../ports/live.ts';
import { deltaCodec, joinCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import { type Ephemera, isInbox } from './ephemera.ts';
import { LiveReader } from './live-reader.ts';
import { RunningSteps } from './running-steps.ts';

/**
 * Live text on `<prefix>.live.<key path>`. A new subscriber, or one that missed a piece, asks on `<prefix>.join`; the process
 * that runs the step sends its text so far to the asker's own inbox under `address`, so that a thousand new subscribers cost each
 * other nothing.
 */
export const createLive = (ephemera: Ephemera, subjects: Subjects, address: string): Live & { close(): void } => {
  const running = new RunningSteps();
  let readers = 0;

  const tell = (subject: string, delta: Delta): void => {
    for (const piece of piecesOf(delta)) {
      const bytes = orNull(() => deltaCodec.encode(piece));
      if (bytes !== null) ephemera.publish(subject, bytes);
    }
  };
  const answer = (bytes: Uint8Array): void => {
    const join = orNull(() => joinCodec.decode(bytes));
    const soFar = join === null ? null : running.of(join.key);
    if (join !== null && soFar !== null && isInbox(join.answerTo)) tell(join.answerTo, soFar);
  };
  const ask = (key: SessionKey, answerTo: string): void => {
    const bytes = orNull(() => joinCodec.encode({ key, answerTo }));
    if (bytes !== null) ephemera.publish(subjects.join, bytes);
  };
  /** Only a process that runs steps has the right to hear who asks. Who asks too early gets the text from its first piece on. */
  let close: (() => void) | null = null;

  return {
    publish: (key, delta) => {
      close ??= ephemera.subscribe(subjects.join, answer);
      running.add(key, delta);
      tell(subjects.live(key), delta);
    },
    ended: (key, turn) => running.end(key, turn),
    subscribe: (key, signal) => {
      const answerTo = `${address}.${++readers}`;
      const reader = new LiveReader(() => ask(key, answerTo));
      const receive = (bytes: Uint8Array): void => {
        const delta = orNull(() => deltaCodec.decode(bytes));
        if (delta !== null) reader.take(delta);
      };
      const subscriptions = [subjects.live(key), answerTo].map((subject) => ephemera.subscribe(subject, receive));
      const end = (): void => {
        signal.removeEventListener('abort', end);
        for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
      ask(key, answerTo);
      return reader.read(signal, end);
    },
    close: () => close?.(),
  };
};

/** Anybody may write to these subjects: what cannot be decoded or encoded is dropped, like any lost piece. */
const orNull = <T>(attempt: () => T): T | null => {
  try {
    return attempt();
  } catch {
    return null;
  }
};

/** UTF-16 units per message, at most three bytes each. */
const pieceCharacters = Math.floor(limits.commandBytes / 4);

/** The same text in messages that are small enough; no surrogate pair is split. */
function* piecesOf(delta: Delta): Generator<Delta> {
  const { text } = delta;
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = Math.min(start + pieceCharacters, text.length);
    if (end < text.length && isHighSurrogate(text, end - 1)) end--;
    yield { ...delta, offset: delta.offset + start, text: text.slice(start, end) };
  }
}
const isHighSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
