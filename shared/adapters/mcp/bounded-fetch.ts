import { limits } from '../../kit/limits.ts';

/** `fetch` with bounded responses: a body, or each event of an event stream, may have at most `limits.mcpMessageBytes`. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return new Response(response.body.pipeThrough(bounded(isStream)), response);
};

const bounded = (isStream: boolean): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      const start = isStream ? startOfEvent(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) : -1;
      bytes = start === -1 ? bytes + chunk.length : chunk.length - start;
      if (bytes <= limits.mcpMessageBytes) controller.enqueue(chunk);
      else controller.error(new Error(`a message of more than ${limits.mcpMessageBytes} bytes`));
    },
  });
};

/** The offset at which the last event of a chunk starts, or -1 if none starts there. */
const startOfEvent = (chunk: Buffer): number => Math.max(chunk.lastIndexOf('\n\n'), chunk.lastIndexOf('\r\n\r\n'));
