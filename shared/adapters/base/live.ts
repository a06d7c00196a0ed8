import { limits } from '../../kit/limits.ts';
import type { Delta, Live } from '../../ports.ts';
import { deltaCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import type { Ephemera } from './ephemera.ts';

/** Live text on `<prefix>.live.<key path>`. A slow reader loses the oldest pieces; offsets show the gap. */
export const createLive = (ephemera: Ephemera, subjects: Subjects): Live => ({
  publish: (key, delta) => {
    const bytes = orNull(() => deltaCodec.encode(delta));
    if (bytes !== null) ephemera.publish(subjects.live(key), bytes);
  },
  subscribe: (key, signal) => {
    const buffer = createBuffer();
    const unsubscribe = ephemera.subscribe(subjects.live(key), (bytes) => {
      const delta = orNull(() => deltaCodec.decode(bytes));
      if (delta !== null) buffer.push(delta);
    });
    const end = (): void => {
      unsubscribe();
      buffer.end();
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    return read(buffer, () => {
      signal.removeEventListener('abort', end);
      end();
    });
  },
});

/** A piece that is too large or not a delta is lost like any other. */
const orNull = <T>(attempt: () => T): T | null => {
  try {
    return attempt();
  } catch {
    return null;
  }
};

interface Buffer {
  push(delta: Delta): void;
  /** The next delta; `null` after the end, when all are read. */
  next(): Promise<Delta | null>;
  end(): void;
}

/** Keeps the newest deltas within the limits of a streaming client. */
const createBuffer = (): Buffer => {
  const deltas: Delta[] = [];
  let characters = 0;
  let ended = false;
  let wake = (): void => {};
  const drop = (): Delta | null => {
    const delta = deltas.shift() ?? null;
    characters -= delta?.text.length ?? 0;
    return delta;
  };
  return {
    push: (delta) => {
      deltas.push(delta);
      characters += delta.text.length;
      while (deltas.length > limits.streamFrames || characters > limits.streamBytes) drop();
      wake();
    },
    next: async () => {
      while (deltas.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return drop();
    },
    end: () => {
      ended = true;
      wake();
    },
  };
};

async function* read(buffer: Buffer, end: () => void): AsyncGenerator<Delta, void, undefined> {
  try {
    for (let delta = await buffer.next(); delta !== null; delta = await buffer.next()) yield delta;
  } finally {
    end();
  }
}
