import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { isPageOn } from './is-page-on.ts';
import { readSite, type SiteFile } from './site.ts';

/**
 * The page: files without a secret, open to whoever reaches the gateway, under a policy of their own. Nothing from elsewhere is loaded, no
 * script or style is in the HTML, and text becomes HTML by two named policies alone (Trusted Types). What a model says can load nothing.
 */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data: blob:",
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "require-trusted-types-for 'script'; trusted-types dompurify natter",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept, accept-encoding',
};
/** The name of an asset has a digest of its content. */
const forEver = 'public, max-age=31536000, immutable';

const wantsHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean => /\btext\/html\b/i.test(accept);
const takes = ({ headers: { 'accept-encoding': given = '' } }: FastifyRequest, encoding: string): boolean =>
  String(given)
    .split(',')
    .some((each) => each.trim().split(';')[0] === encoding && !/;\s*q=0(\.0*)?$/.test(each.trim()));

const send = (request: FastifyRequest, reply: FastifyReply, file: SiteFile, cacheControl: string): FastifyReply => {
  const { type, plain, br, gzip } = file;
  reply.headers({ ...headers, 'cache-control': cacheControl }).type(type);
  if (br && takes(request, 'br')) return reply.header('content-encoding', 'br').send(br);
  if (gzip && takes(request, 'gzip')) return reply.header('content-encoding', 'gzip').send(gzip);
  return reply.send(plain);
};

const nothingHere = (): NatterError =>
  new NatterError('not_found', 'there is nothing at this address; the API is described at /v1/openapi.json');

/** `GET /`: the page for a browser, a word of greeting for a program. `GET /assets/:name`: what the page is made of. */
export const pageRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const site = readSite();
  app.get('/', { config: { isOpen: true } }, async (request, reply) => {
    const index = site.get('index.html');
    reply.header('vary', 'accept');
    if (wantsHtml(request) && isPageOn(context.config) && index) return send(request, reply, index, 'no-store');
    const { version } = context;
    return reply.send({
      name: 'natter',
      version,
      api: '/v1/openapi.json',
      page: isPageOn(context.config) && index !== undefined,
    });
  });
  app.get('/assets/:name', { config: { isOpen: true } }, async (request, reply) => {
    const file = site.get(`assets/${(request.params as { name: string }).name}`);
    if (!file || !isPageOn(context.config)) throw nothingHere();
    return send(request, reply, file, forEver);
  });
};
