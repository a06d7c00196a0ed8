import { limits } from '../../kit/limits.ts';
import { ModelTrouble } from './trouble.ts';
import type { Watch } from './watch.ts';

/**
 * `fetch` for one step. It reports the response head to the watch and stops the step at a body that no sane provider sends. It
 * follows no redirects: `fetch` would send the key along, since it treats `Authorization` as a secret but not `x-api-key` (I12).
 */
export const guardedFetch =
  (watch: Watch): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    watch.connected();
    if (response.status >= 300 && response.status < 400) throw leadsElsewhere(response);
    return response.body === null ? response : new Response(response.body.pipeThrough(checked(watch)), response);
  };

const leadsElsewhere = ({ status, url, headers, body }: Response): ModelTrouble => {
  void body?.cancel();
  const location = headers.get('location') ?? '';
  const place = URL.canParse(location, url) ? new URL(location, url) : null;
  const where = place === null ? 'nowhere' : `to ${place.origin}${place.pathname}`;
  return new ModelTrouble(
    'model_bad_request',
    `HTTP ${status}: the provider redirects ${where}; if that is right, change "baseUrl" of the provider`,
  );
};

const lineFeed = 0x0a;

/** Bounds all bytes, and the bytes of one line, which the SDK buffers as a whole. Invalid UTF-8 is an error. */
const checked = (watch: Watch): TransformStream<Uint8Array, Uint8Array> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const feed = chunk.lastIndexOf(lineFeed);
      bytes += chunk.length;
      lineBytes = feed === -1 ? lineBytes + chunk.length : chunk.length - feed - 1;
      const trouble = troubleWith(chunk, bytes, lineBytes, decoder);
      if (trouble === null) return controller.enqueue(chunk);
      controller.error(trouble);
      watch.stop(trouble);
    },
  });
};

const troubleWith = (
  chunk: Uint8Array,
  bytes: number,
  lineBytes: number,
  decoder: InstanceType<typeof TextDecoder>,
): ModelTrouble | null => {
  if (bytes > limits.modelStreamBytes) {
    return new ModelTrouble('output_too_large', `the provider sent more than ${limits.modelStreamBytes} bytes`);
  }
  if (lineBytes > limits.modelLineBytes) {
    return new ModelTrouble('output_too_large', `the provider sent a line of more than ${limits.modelLineBytes} bytes`);
  }
  try {
    decoder.decode(chunk, { stream: true });
    return null;
  } catch {
    return new ModelTrouble('model_invalid_answer', 'the provider sent bytes that are not UTF-8');
  }
};
