import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { type Call, type Operation, operation } from '../../operation/operation.ts';
import { route } from '../../operation/route.ts';
import { asyncApiDocument } from '../asyncapi/document.ts';
import { openApiDocument } from './document.ts';

/** A text that is made once for each gateway, when it is first asked for. */
const once = (make: (context: GatewayContext) => string) => {
  const made = new WeakMap<GatewayContext, string>();
  return ({ context }: Call, _: null): string => {
    const text = made.get(context) ?? make(context);
    made.set(context, text);
    return text;
  };
};
const sendJson = (reply: FastifyReply, text: string): FastifyReply => reply.type('application/json').send(text);

/** The gateway's descriptions of itself. `all` tells the whole table, this part of it included. */
export const descriptionOperations = (all: () => readonly Operation[]): readonly Operation[] => [
  operation(
    once(({ version }) => JSON.stringify(openApiDocument(version, all()))),
    {
      ...{ id: 'describe', tag: 'operations', changes: 'nothing' },
      summary: 'Returns this document',
      http: route({
        ...{ method: 'get', path: '/v1/openapi.json' },
        answers: { 200: z.looseObject({ openapi: z.string() }) },
        input: () => null,
        send: sendJson,
      }),
    },
  ),
  operation(
    once(({ version, config }) => JSON.stringify(asyncApiDocument(version, config.prefix))),
    {
      ...{ id: 'describeEvents', tag: 'operations', changes: 'nothing' },
      summary: 'Returns the AsyncAPI 3 description of the messages on the broker',
      http: route({
        ...{ method: 'get', path: '/v1/asyncapi.json' },
        answers: { 200: z.looseObject({ asyncapi: z.string() }) },
        input: () => null,
        send: sendJson,
      }),
    },
  ),
];
