import { brokenOff } from './errors.ts';

/**
 * The text of a response as it arrives, until it ends or the signal aborts. Does not read ahead. Throws `unreachable` if the
 * response breaks off.
 */
export async function* textOf(response: Response, signal: AbortSignal): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  // Node 20's `fetch` holds its signal weakly and may lose it during a long body, so the reader is cancelled here too.
  const cut = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cut);
  if (signal.aborted) cut();
  try {
    for (;;) {
      const part = await reader.read().catch((cause: unknown) => Promise.reject(brokenOff(cause)));
      if (part.done) return;
      yield decoder.decode(part.value, { stream: true });
    }
  } finally {
    signal.removeEventListener('abort', cut);
    cut();
  }
}

/** The whole text of a response. */
export const wholeTextOf = async (response: Response, signal: AbortSignal): Promise<string> => {
  let text = '';
  for await (const part of textOf(response, signal)) text += part;
  return text;
};
