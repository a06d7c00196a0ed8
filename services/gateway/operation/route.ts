import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { Principal } from '../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { idempotencyKeyOf } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { bodyOf, keyOf, noQuery, queryOf, wantsStream } from '../http/input.ts';
import type { ProblemCode } from '../http/problem.ts';
import { type Condition, conditionOf } from './etag.ts';
import type { Call, Run } from './operation.ts';
import { waiting } from './waiting.ts';

/** How an operation is called over HTTP: one description, from which both its route and its part of the OpenAPI document are made. */

/** Headers that mean something to an operation, besides `Authorization`. */
export const headers = {
  'Idempotency-Key': 'The same key again is the same run, on any replica: 1 to 255 printable ASCII characters.',
  'If-Match': 'The `ETag` of the session, such as `"17"`: the call takes effect only where the session has not moved since.',
  'If-None-Match': 'An `ETag`: answered with 304 until the session moves.',
  'Last-Event-ID': 'The id of an event: the stream goes on after it.',
  'X-Natter-Session': 'The session, by its key, percent-encoded where that is not plain ASCII.',
  Prefer: '`wait=SECONDS`: how long to wait for the answer at most.',
} as const;

export interface RouteDescription {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As the router takes it, such as `/v1/sessions/:key`. */
  readonly path: string;
  /** Parameters not in it are refused. Without one the query is not looked at. */
  readonly query?: z.ZodObject | undefined;
  readonly headers?: readonly (keyof typeof headers)[] | undefined;
  readonly body?: z.ZodType | undefined;
  /** By status: JSON of a schema, text of a media type, or either; none: without a body. */
  readonly answers: Readonly<Record<number, z.ZodType | readonly (z.ZodType | string)[]>>;
  /** Besides those that every call may be answered with. */
  readonly problems?: readonly ProblemCode[] | undefined;
  /** Its body may have files, and so be larger than others. */
  readonly takesFiles?: true | undefined;
  /** Answers without a token. */
  readonly isOpen?: true | undefined;
  /** An event stream that a ticket opens. */
  readonly takesTicket?: true | undefined;
  /** How its errors look. Default: a problem of RFC 9457. */
  readonly errors?: ErrorFormat | undefined;
  /** What `*` at the end of the path stands for. */
  readonly rest?: string | undefined;
  readonly examples?: RouteExamples | undefined;
}
/** Errors in the shape of somebody else's protocol. */
export interface ErrorFormat {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** Besides those of the problems that an operation names. */
  readonly statuses: readonly number[];
  handler(log: Logger): RouteOptions['errorHandler'];
}
export interface RouteExamples {
  readonly body?: unknown;
  /** Of the first good answer. */
  readonly answer?: unknown;
}

/** A route of the server. */
export interface HttpRoute extends RouteDescription {
  /** Without the HEAD that comes with a GET. */
  readonly hasNoHead?: true;
  handle(context: GatewayContext, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export interface HttpBinding<Input, Output> {
  routeFor(run: Run<Input, Output>): HttpRoute;
}

/** What a request says, checked. */
export interface HttpGiven<Query, Body> {
  readonly query: Query;
  readonly body: Body;
  /** Of a path with `:id`, `:runId` and the like, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Where the operation takes one. */
  readonly idempotencyKey: string | undefined;
}
/** The same for the path of a session. */
export interface SessionGiven<Query, Body> extends HttpGiven<Query, Body> {
  readonly key: SessionKey;
  readonly condition: Condition;
}

interface RouteSpec<Query extends z.ZodObject, Body, Input, Output, Given = HttpGiven<z.infer<Query>, Body>>
  extends Omit<RouteDescription, 'query' | 'body'> {
  /** Default: none is taken. */
  readonly query?: Query;
  readonly body?: z.ZodType<Body, unknown>;
  /** A body, which the operation has none of, is refused. */
  readonly refusesBody?: true;
  /** Refuses the caller before anything of the request is read. */
  permit?(principal: Principal): void;
  input(given: Given, context: GatewayContext, request: FastifyRequest): Input;
  /** The answer, where it is not the output as it is. */
  output?(output: Output, given: Given, call: Call): unknown;
  waitMs?(given: Given): number;
  /** Answers where a status and JSON do not say all. */
  send?(reply: FastifyReply, output: Output, given: Given): FastifyReply;
  /** Answers with a stream, where the request asks for one. */
  stream?(call: Call, input: Input, request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** A call that nobody listens to: what derives from its signal goes with it, and most make no use of it. */
const unheardCall = (context: GatewayContext, caller: FastifyRequest): Call => ({
  ...{ context, caller },
  get signal() {
    return new AbortController().signal;
  },
});

const noBody = z.strictObject({});

const isPending = (answer: unknown): boolean => {
  const { status } = (answer ?? {}) as { status?: unknown };
  return status === 'accepted' || status === 'scheduled';
};
/** 202 for what is only stored yet, where the operation says so; else its first good status. */
const statusOf = ({ answers }: RouteDescription, answer: unknown): number =>
  isPending(answer) && answers[202] !== undefined ? 202 : Math.min(...Object.keys(answers).map(Number));

/** Binds an operation to a path of its own. */
export const route = <Input, Output, Query extends z.ZodObject = typeof noQuery, Body = undefined>(
  spec: RouteSpec<Query, Body, Input, Output>,
): HttpBinding<Input, Output> => binding(spec, (_, __, read) => read());

/** Binds an operation to `/v1/sessions/:key` and what follows it. */
export const sessionRoute = <Input, Output, Query extends z.ZodObject = typeof noQuery, Body = undefined>({
  path,
  ...spec
}: RouteSpec<Query, Body, Input, Output, SessionGiven<z.infer<Query>, Body>>): HttpBinding<Input, Output> =>
  binding({ ...spec, path: `/v1/sessions/:key${path}` }, (context, request, read) => {
    const key = keyOf(context.config, request);
    const given = read();
    const takesCondition = spec.headers?.includes('If-Match') ?? false;
    return { ...given, key, condition: takesCondition ? conditionOf(context, request, key) : async () => ({}) };
  });

type Complete<Base, Given> = (context: GatewayContext, request: FastifyRequest, read: () => Base) => Given;

const binding = <Query extends z.ZodObject, Body, Input, Output, Given>(
  spec: RouteSpec<Query, Body, Input, Output, Given>,
  complete: Complete<HttpGiven<z.infer<Query>, Body>, Given>,
): HttpBinding<Input, Output> => {
  const {
    query,
    body,
    refusesBody,
    permit,
    input,
    output = (result) => result,
    waitMs = () => 0,
    send,
    stream,
    ...description
  } = spec;
  const querySchema = spec.isOpen ? undefined : (query ?? noQuery);
  const described: RouteDescription = { ...description, query: querySchema, body };

  const read = (request: FastifyRequest): HttpGiven<z.infer<Query>, Body> => {
    const path = request.params as Readonly<Record<string, string>>;
    const asked = (querySchema ? queryOf(querySchema, request) : {}) as z.infer<Query>;
    if (refusesBody) bodyOf(noBody, request);
    const sent = (body ? bodyOf(body, request) : undefined) as Body;
    const takesKey = spec.headers?.includes('Idempotency-Key') ?? false;
    return { path, query: asked, body: sent, idempotencyKey: takesKey ? idempotencyKeyOf(request) : undefined };
  };

  const routeFor = (run: Run<Input, Output>): HttpRoute => ({
    ...described,
    handle: async (context, request, reply) => {
      permit?.(request.principal);
      const given = complete(context, request, () => read(request));
      const unheard = unheardCall(context, request);
      if (stream && wantsStream(request)) return stream(unheard, input(given, context, request), request, reply);
      const runAs = async (call: Call) => run(call, input(given, context, request));
      const runWith = (signal: AbortSignal) => runAs({ context, caller: request, signal });
      const result = waitMs(given) > 0 ? await waiting(context, reply, runWith) : await runAs(unheard);
      if (send) return send(reply, result, given);
      const answer = await output(result, given, unheard);
      return reply.code(statusOf(described, answer)).send(answer);
    },
  });
  return { routeFor };
};
