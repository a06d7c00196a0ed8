import { z } from 'zod';
import { NatterError } from '../../../../shared/kit/errors.ts';
import type { Logger } from '../../../../shared/kit/log.ts';
import { checked, readJson } from '../../http/input.ts';
import { problemFrom } from '../../http/problem.ts';

/** What goes over a WebSocket: JSON objects, one in a text message (docs/integrate/websocket.md). */

export const protocolVersion = 1;

/** Why the gateway closes a connection, beside the protocol's own codes (RFC 6455, 7.4). */
export const closeCodes = {
  goingAway: 1001,
  tryLater: 1013,
  badFrame: 4400,
  unauthorized: 4401,
  accessLost: 4403,
  tooSlow: 4408,
  tooMany: 4429,
} as const;

const authFrame = z.strictObject({ type: z.literal('auth'), token: z.string().min(1).max(4_096) });
const requestFrame = z.strictObject({
  type: z.literal('req'),
  id: z.union([z.string().max(128), z.number()], 'use a string or a number'),
  method: z.string().min(1).max(64),
  params: z.unknown().default({}),
});
const clientFrame = z.discriminatedUnion('type', [authFrame, requestFrame], 'use a frame of type "auth" or "req"');
export type RequestFrame = z.infer<typeof requestFrame>;

/** The frame in a message of a client. Throws `NatterError('invalid')`. */
export const readFrame = (message: Buffer, isBinary: boolean): z.infer<typeof clientFrame> => {
  if (isBinary) throw new NatterError('invalid', 'frame: send JSON as a text message, not as a binary one');
  return checked(clientFrame, readJson(message, 'frame'), 'frame');
};

/** An error in a frame: the problem that HTTP would answer, without the HTTP fields. */
export const errorIn = (error: unknown, requestId: string, log: Logger): object => {
  const { code, detail: message, field, problem, fix, retryAfterMs } = problemFrom(error, requestId);
  if (code === 'internal') log.error({ err: error, requestId }, 'request failed');
  return {
    ...{ code, message },
    ...(field !== undefined && { field }),
    ...(problem !== undefined && { problem, fix }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    requestId,
  };
};

/** Maximum length of a close reason in bytes (RFC 6455, 5.5). */
const reasonBytes = 123;
/** As many whole words as fit. */
export const reasonOf = (text: string): string => {
  let reason = '';
  for (const word of text.split(' ')) {
    const longer = reason === '' ? word : `${reason} ${word}`;
    if (Buffer.byteLength(longer) > reasonBytes) break;
    reason = longer;
  }
  return reason;
};
