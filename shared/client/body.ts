import { brokenOff } from './errors.ts';

/** The body of a response as it arrives, until it ends or the signal aborts. Does not read ahead. Throws `unreachable` if it breaks off. */
async function* piecesOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  if (response.body === null) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  // Node 20's `fetch` holds its signal weakly and may lose it during a long body, so the reader is cancelled here too.
  const cut = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cut);
  if (signal.aborted) cut();
  try {
    for (;;) {
      const part = await reader.read().catch((cause: unknown) => Promise.reject(brokenOff(cause)));
      if (part.done) return;
      yield part.value;
    }
  } finally {
    signal.removeEventListener('abort', cut);
    cut();
  }
}

/** The text of a response, as `piecesOf`. */
export async function* textOf(response: Response, signal: AbortSignal): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const piece of piecesOf(response, signal)) yield decoder.decode(piece, { stream: true });
}

/** The whole body of a response. */
export const wholeBytesOf = async (response: Response, signal: AbortSignal): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(response, signal)) pieces.push(piece);
  const whole = new Uint8Array(pieces.reduce((bytes, piece) => bytes + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

/** The whole text of a response. */
export const wholeTextOf = async (response: Response, signal: AbortSignal): Promise<string> => {
  let text = '';
  for await (const part of textOf(response, signal)) text += part;
  return text;
};
