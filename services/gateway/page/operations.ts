import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Role, roles } from '../../../shared/domain/values/role.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { TokenBearer } from '../context/callers.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { isOwnOrigin } from '../http/own-origin.ts';
import { type Call, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { isPageOn } from './is-page-on.ts';
import { describeCaller, signIn, signOut } from './page-tokens.ts';

/** How the page signs in and out, and who is signed in (docs/use/page.md). */

const codeBody = z.strictObject({ role: z.enum(roles).optional().describe("Default: that of the caller's token.") });
const loginBody = z.strictObject({ code: z.string().min(1).max(128) });

export const whoIsThere = z.object({
  actor: z.string(),
  role: z.enum(roles),
  principal: z.string().optional(),
  namespace: z.string().optional(),
  sessionKey: z.string().optional().describe('the session that a viewer may read'),
  isPage: z.boolean().describe('whether the token is that of a page, which can sign out'),
  agentId: z.string(),
  mainKey: z.string().describe('the key of the main session'),
  attachments: z
    .object({ maxMegabytes: z.number(), perMessage: z.number(), types: z.array(z.string()) })
    .optional()
    .describe('what the files of one message may be, as configured'),
  signedInBy: z.string().optional().describe('the token that the page was opened with'),
  expiresAt: z.number().optional(),
});
export const codeMade = z.object({
  code: z.string(),
  expiresAt: z.number(),
  role: z.enum(roles),
  publicUrl: z.string().optional().describe('where the page is, if that is configured'),
});
const signedOut = z.object({ id: z.string(), status: z.literal('revoked') });

const pageIsOff = (): NatterError =>
  new NatterError('unsupported', 'the page is switched off here; set page.enabled to true', { field: 'page.enabled' });

interface CodeRequest {
  readonly bearer: TokenBearer;
  readonly role: Role | undefined;
}
const makeCode = async ({ context, caller }: Call, { bearer, role }: CodeRequest) => {
  if (!isPageOn(context.config)) throw pageIsOff();
  const made = await context.loginCodes.issue(bearer, role);
  context.audit.note('login_code_created', caller, { detail: { role: made.role } });
  const { publicUrl } = context.config.gateway;
  return { ...made, ...(publicUrl !== undefined && { publicUrl }) };
};

interface Login {
  readonly code: string;
  readonly ip: string;
}
const loginOf = (code: string, { config }: GatewayContext, request: FastifyRequest): Login => {
  if (!isPageOn(config)) throw pageIsOff();
  if (!isOwnOrigin(request, config.gateway))
    throw new NatterError('forbidden', "origin: only the gateway's own page signs in here; open it at the gateway's address", {
      field: 'origin',
    });
  return { code, ip: request.ip };
};

export const pageOperations: readonly Operation[] = [
  operation(makeCode, {
    ...{ id: 'createLoginCode', tag: 'access', changes: 'nothing' },
    summary: 'Creates a one-time code that signs the page in',
    http: route({
      ...{ method: 'post', path: '/v1/page/codes', body: codeBody },
      answers: { 201: codeMade },
      examples: { body: { role: 'read-only' }, answer: { code: 'natter_…', expiresAt: samples.at + 60_000, role: 'read-only' } },
      problems: ['forbidden', 'unsupported'],
      input: ({ body: { role } }, _, { actor, digest, principal }) => ({ bearer: { actor, digest, principal }, role }),
    }),
  }),
  operation(
    async ({ context, caller }: Call, { code, ip }: Login) => signIn(context, caller, await context.loginCodes.redeem(code, ip)),
    {
      ...{ id: 'logInPage', tag: 'access', changes: 'nothing' },
      summary: "Trades a one-time code for the page's own token; for the gateway's own page only",
      http: route({
        ...{ method: 'post', path: '/v1/page/login', isOpen: true, body: loginBody },
        answers: { 201: results.tokenMade },
        examples: { body: { code: 'natter_…' }, answer: { ...samples.newToken, label: 'page' } },
        problems: ['unauthorized', 'forbidden', 'unsupported'],
        input: ({ body: { code } }, context, request) => loginOf(code, context, request),
      }),
    },
  ),
  operation(({ context, caller }: Call, _: null) => signOut(context, caller), {
    ...{ id: 'logOutPage', tag: 'access', changes: 'nothing' },
    summary: "Revokes the page's own token",
    http: route({
      ...{ method: 'post', path: '/v1/page/logout' },
      answers: { 200: signedOut },
      examples: { answer: { id: samples.token.id, status: 'revoked' } },
      problems: ['invalid'],
      input: () => null,
    }),
  }),
  operation(({ context, caller }: Call, _: null) => describeCaller(context, caller), {
    ...{ id: 'whoAmI', tag: 'access', changes: 'nothing' },
    summary: 'Tells who calls: the role of the token, its limits, and when it ends',
    http: route({
      ...{ method: 'get', path: '/v1/me' },
      answers: { 200: whoIsThere },
      examples: {
        answer: {
          ...{ actor: 'token:api', role: 'admin', isPage: false, agentId: 'main', mainKey: 'agent:main:main' },
          attachments: { maxMegabytes: 10, perMessage: 8, types: ['image/*', 'text/*'] },
        },
      },
      input: () => null,
    }),
  }),
];
