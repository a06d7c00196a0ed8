import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problemOf, sendProblem } from '../http/problem.ts';

/** Where a client of OAuth asks who hands out tokens (RFC 8414, RFC 9728), or goes without having been told. */
const wellKnown = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'];
const metadata = [...wellKnown, '/.well-known/openid-configuration'];
const routes = [
  ...metadata.flatMap((url) => [['GET', url] as const, ['GET', `${url}/:path`] as const]),
  ...[['GET', '/mcp/.well-known/:name'] as const, ['GET', '/authorize'] as const],
  ...[['POST', '/register'] as const, ['POST', '/token'] as const],
];

const reason =
  'this gateway takes bearer tokens; there is no OAuth: make a token with "natter token create" and send it as ' +
  '"Authorization: Bearer <token>" (docs/integrate/mcp.md)';

/** A problem that is an error of OAuth as well: its clients tell people `error_description`. */
const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const problem = problemOf('not_found', reason, request.id);
  return sendProblem(reply, Object.assign(problem, { error: 'invalid_request', error_description: reason }));
};

/** Says that there is no OAuth where its clients look for it, without a token and before a body is read: a 401 would only send them on. */
export const noOAuthRoutes = (app: FastifyInstance): void => {
  for (const [method, url] of routes)
    app.route({ method, url, config: { isOpen: true, changes: 'nothing' }, onRequest: refuse, handler: refuse });
};
