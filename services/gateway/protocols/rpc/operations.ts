import { z } from 'zod';
import { bodyOf, noQuery, queryOf } from '../../http/input.ts';
import type { Operation } from '../../operation/operation.ts';
import * as results from '../../operation/results.ts';
import * as samples from '../../operation/samples.ts';
import { waiting } from '../../operation/waiting.ts';
import { prepare } from './methods.ts';
import { methods } from './table.ts';

/** What every call by name has; each method has parameters of its own. */
const callBody = z.strictObject({
  id: z.union([z.string().max(128), z.number()]).optional(),
  method: z.string().min(1).max(64),
  params: z.unknown().default({}),
});
/** The same, method by method with its parameters; they may be left out where none is needed. */
const describedBody = z.union(
  Object.entries(methods).map(([name, { parameters }]) =>
    callBody.extend({
      method: z.literal(name),
      params: parameters.safeParse({}).success ? parameters.optional() : parameters,
    }),
  ),
);

/** `POST /v1/rpc`: `{id?, method, params?}` → `{id?, ok: true, result}`, or a problem (A12/130–131). */
export const rpcOperations: readonly Operation[] = [
  {
    ...{ id: 'call', tag: 'methods' },
    // Each method declares what it changes.
    changes: 'nothing',
    summary: 'Calls a method by its name',
    http: {
      ...{ method: 'post', path: '/v1/rpc', query: noQuery, body: describedBody },
      takesFiles: true,
      answers: { 200: results.called },
      examples: {
        body: { id: 1, method: 'chat.send', params: { sessionKey: samples.key, message: 'Is the build green?' } },
        answer: { id: 1, ok: true, result: samples.begun },
      },
      problems: [
        ...(['forbidden', 'send_denied', 'not_found', 'session_unknown', 'session_busy', 'session_retained'] as const),
        ...(['introspection_disabled', 'not_resendable', 'refused', 'quarantined', 'damaged'] as const),
      ],
      handle: async (context, request, reply) => {
        queryOf(noQuery, request);
        const { id, method, params } = bodyOf(callBody, request);
        const call = prepare(methods, method, params);
        const given = { context, caller: request };
        const result = call.waits
          ? await waiting(context, reply, (signal) => call.run({ ...given, signal }))
          : // Of a call that does not wait, nobody asks whether its caller is still there. A signal of its own: what derives from it goes with it.
            await call.run({ ...given, signal: new AbortController().signal });
        return reply.send({ ...(id !== undefined && { id }), ok: true, result });
      },
    },
  },
];
