import { z } from 'zod';
import type { Principal } from '../../../shared/domain/access/access.ts';
import { withChannelName } from '../../../shared/domain/config/channel-schema.ts';
import { roles } from '../../../shared/domain/values/role.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { adminsOnly } from '../context/access.ts';
import { timeField } from '../http/input.ts';
import { type Call, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { createToken, listTokens, revokeToken, rotateToken, type TokenGrant } from './tokens.ts';

/** Tokens made while the system runs: the administrator's alone. And one-time tickets for event streams, which are anybody's. */

const administrator = (principal: Principal): void => adminsOnly(principal, 'managing tokens');

const ticketBody = z.strictObject({
  path: z
    .string()
    .max(4_096)
    .regex(/^\/v1\/[\x21-\x7e]+$/, 'use the path of an event stream, percent-encoded, such as "/v1/events"')
    .refine((path) => !/[?#]/.test(path), 'leave the query out; a ticket is for any query at its path'),
});
const tokenBody = z.strictObject({
  role: z.enum(roles),
  principal: withChannelName.max(256).optional(),
  namespace: z.string().min(1).max(256).optional(),
  sessionKey: z.string().min(1).max(1_024).optional(),
  label: z.string().max(120).default(''),
  /** Milliseconds since 1970, or ISO 8601. Default: never. */
  expiresAt: timeField.optional(),
});
const rotationBody = z.strictObject({ overlapMinutes: z.int().min(0).max(limits.rotationOverlapMinutes).default(0) });

interface TicketRequest {
  readonly actor: string;
  /** SHA-256 of the token that asks. */
  readonly digest: Buffer;
  readonly path: string;
}

export const tokenOperations: readonly Operation[] = [
  operation(({ context }: Call, { path, ...bearer }: TicketRequest) => context.tickets.issue(bearer, path), {
    ...{ id: 'createTicket', tag: 'access', changes: 'nothing' },
    summary: "Creates a one-time ticket for a browser's EventSource",
    http: route({
      ...{ method: 'post', path: '/v1/tickets', body: ticketBody },
      answers: { 201: results.ticket },
      examples: { body: { path: '/v1/events' }, answer: { ticket: 'natter_…', expiresAt: samples.at + 30_000 } },
      problems: ['forbidden'],
      input: ({ body: { path } }, _, { actor, digest }) => ({ actor, digest, path }),
    }),
  }),
  operation(({ context }: Call, _: null) => ({ tokens: listTokens(context) }), {
    ...{ id: 'listTokens', tag: 'access', changes: 'nothing' },
    summary: 'Lists the access tokens created at run time',
    http: route({
      ...{ method: 'get', path: '/v1/tokens' },
      answers: { 200: results.tokens },
      examples: { answer: { tokens: [samples.token] } },
      problems: ['forbidden'],
      permit: administrator,
      input: () => null,
    }),
  }),
  operation(({ context, caller }: Call, grant: TokenGrant) => createToken(context, caller, grant), {
    ...{ id: 'createToken', tag: 'access', changes: 'sessions' },
    summary: 'Creates an access token and shows it once',
    http: route({
      ...{ method: 'post', path: '/v1/tokens', body: tokenBody },
      answers: { 201: results.tokenMade },
      examples: { body: { role: 'read-only', label: 'dashboard' }, answer: samples.newToken },
      problems: ['forbidden', 'not_found'],
      permit: administrator,
      input: ({ body }) => body,
    }),
  }),
  operation(({ context, caller }: Call, id: string) => revokeToken(context, caller, id), {
    ...{ id: 'revokeToken', tag: 'access', changes: 'sessions' },
    summary: 'Revokes an access token',
    http: route({
      ...{ method: 'delete', path: '/v1/tokens/:id' },
      answers: { 200: results.tokenShown },
      examples: { answer: { ...samples.token, status: 'revoked', revokedAt: samples.at } },
      problems: ['forbidden', 'not_found'],
      permit: administrator,
      input: ({ path }) => path.id ?? '',
    }),
  }),
  operation(
    ({ context, caller }: Call, { id, overlapMs }: { id: string; overlapMs: number }) =>
      rotateToken(context, caller, id, overlapMs),
    {
      ...{ id: 'rotateToken', tag: 'access', changes: 'sessions' },
      summary: 'Replaces the secret of an access token; the old one may stay valid for a while',
      http: route({
        ...{ method: 'post', path: '/v1/tokens/:id/rotate', body: rotationBody },
        answers: { 200: results.tokenMade },
        examples: { body: { overlapMinutes: 10 }, answer: samples.newToken },
        problems: ['forbidden', 'not_found'],
        permit: administrator,
        input: ({ path, body }) => ({ id: path.id ?? '', overlapMs: body.overlapMinutes * 60_000 }),
      }),
    },
  ),
];
