import { type Readable, Transform, type TransformCallback } from 'node:stream';
import type { RouteShorthandOptions } from 'fastify';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { filesBodyBytes } from './keep-files.ts';

const tooLarge = (problem: string): NatterError =>
  new NatterError('too_large', `body: is larger than ${problem}`, { field: 'body' });

/**
 * How much of a body a route with files takes, and how many such bodies are in memory at once: each counts until it is answered (I11). The
 * sender of a large one says beforehand how large it is; a body that does not say so is refused once it is larger than any other route takes.
 */
export const filesBody = (context: GatewayContext): Pick<RouteShorthandOptions, 'bodyLimit' | 'preParsing'> => ({
  bodyLimit: filesBodyBytes(context.config),
  preParsing: async ({ headers, actor }, reply, payload) => {
    const most = filesBodyBytes(context.config);
    const told = headers['content-length'];
    if (told === undefined) return upTo(limits.commandBytes, payload as Readable);
    const bytes = Number(told);
    if (bytes > most) {
      const megabytes = Math.floor(most / 1024 ** 2);
      throw tooLarge(`${megabytes} MB; send fewer or smaller files, or raise attachments.maxMegabytes`);
    }
    if (bytes > limits.commandBytes) reply.raw.once('close', context.uploads.acquire(actor, bytes));
    return payload;
  },
});

/** The same body, which fails with `NatterError('too_large')` beyond so many bytes. */
const upTo = (most: number, payload: Readable): Readable => {
  let bytes = 0;
  const transform = (chunk: Buffer, _: BufferEncoding, done: TransformCallback): void => {
    bytes += chunk.length;
    if (bytes <= most) return done(null, chunk);
    done(tooLarge(`${most / 1024} kB and does not say how large; send "content-length", or less`));
  };
  const counted = new Transform({ transform });
  payload.once('error', (error) => counted.destroy(error));
  return payload.pipe(counted);
};
