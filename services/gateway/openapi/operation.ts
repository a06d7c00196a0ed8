import type { z } from 'zod';
import type { ProblemCode } from '../problem.ts';

/** Headers that mean something to an operation, besides `Authorization`. */
export const headers = {
  'Idempotency-Key': 'The same key again is the same run, on any replica: 1 to 255 printable ASCII characters.',
  'If-Match': 'The `ETag` of the session, such as `"17"`: the call takes effect only where the session has not moved since.',
  'If-None-Match': 'An `ETag`: answered with 304 until the session moves.',
  'Last-Event-ID': 'The id of an event: the stream goes on after it.',
} as const;

/** One call of the API: what it takes, in the schemas of its route, and what it answers. */
export interface Operation {
  /** `operationId`. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As the route is registered, such as `/v1/sessions/:key`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: 'sessions' | 'messages' | 'approvals' | 'memory' | 'events' | 'methods' | 'access' | 'operations';
  readonly query?: z.ZodObject;
  readonly headers?: readonly (keyof typeof headers)[];
  readonly body?: z.ZodType;
  /** By status: JSON of a schema, text of a media type, or either; none: without a body. */
  readonly answers: Readonly<Record<number, z.ZodType | readonly (z.ZodType | string)[]>>;
  /** Besides those that every call may be answered with. */
  readonly problems?: readonly ProblemCode[];
  /** Answers without a token. */
  readonly isOpen?: true;
}
