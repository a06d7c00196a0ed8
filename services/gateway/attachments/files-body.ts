import type { RouteShorthandOptions } from 'fastify';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { filesBodyBytes } from './keep-files.ts';

/**
 * How much of a body a route with files takes, and how many such bodies are in memory at once: each counts until it is answered (I11). The
 * sender of a large one says beforehand how large it is.
 */
export const filesBody = (context: GatewayContext): Pick<RouteShorthandOptions, 'bodyLimit' | 'preParsing'> => ({
  bodyLimit: filesBodyBytes(context.config),
  preParsing: async ({ headers, actor }, reply, payload) => {
    const most = filesBodyBytes(context.config);
    const told = headers['content-length'];
    const bytes = told === undefined ? most : Number(told);
    if (bytes > most) {
      const megabytes = Math.floor(most / 1024 ** 2);
      const problem = `body: is larger than ${megabytes} MB; send fewer or smaller files, or raise attachments.maxMegabytes`;
      throw new NatterError('too_large', problem, { field: 'body' });
    }
    if (bytes > limits.commandBytes) reply.raw.once('close', context.uploads.acquire(actor, bytes));
    return payload;
  },
});
