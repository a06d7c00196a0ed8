import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { z } from 'zod';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import type { Tool, ToolEnd } from '../../../shared/ports/tools.ts';
import {
  allowedUrl,
  checkHosts,
  type HostAddress,
  type Internet,
  internet,
  pinnedTo,
  plainUrl,
  publicAddresses,
} from '../../../shared/runtime/web-hosts.ts';
import { defineTool } from './define.ts';

/** `web_fetch`: reads one page from an allowed host (I12). Throws `invalid` for a malformed list of hosts. */
export const webFetchTool = (hosts: readonly string[], net: Internet = internet): Tool => {
  checkHosts(hosts);
  return defineTool({
    name: 'web_fetch',
    description: `Reads one page of the web as text. Allowed hosts: ${hosts.join(', ')}.`,
    input: z.strictObject({
      url: z.string().min(1, 'is empty').max(2_048).describe('Its address, such as https://example.org/page.'),
    }),
    usual: 'allow',
    idempotent: true,
    readsOnly: true,
    line: ({ url }) => `fetch ${quoted(url, 1_200)} from the web`,
    act: ({ url }, _, signal) => follow(url, hosts, net, signal),
  });
};

/** Follows redirects, checking each address like the first. */
const follow = async (text: string, hosts: readonly string[], net: Internet, signal: AbortSignal): Promise<ToolEnd> => {
  let url = plainUrl(text, hosts);
  for (let redirects = 0; redirects <= limits.webRedirects; redirects++) {
    const response = await ask(url, await publicAddresses(url, net), signal);
    const next = response.headers.location;
    if (!isRedirect(response) || next === undefined) return await endOf(response, url);
    response.destroy();
    url = allowedUrl(next, hosts, url);
  }
  throw new NatterError('invalid', `url: it leads elsewhere more than ${limits.webRedirects} times`, { field: 'url' });
};

const isRedirect = ({ statusCode = 0 }: IncomingMessage): boolean => [301, 302, 303, 307, 308].includes(statusCode);

/** Sends one request over its own connection to the verified addresses; the name is not resolved again. */
const ask = (url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const refuse = (why: string, cause?: unknown) =>
      reject(new NatterError('unavailable', `url: no answer: ${why}`, { field: 'url', cause }));
    const headers = {
      'user-agent': 'natter',
      accept: 'text/*, application/json, application/xml',
      'accept-encoding': 'identity',
    };
    // `rejectUnauthorized` overrides an environment that disables certificate checks.
    const options = { agent: false, method: 'GET', headers, lookup: pinnedTo(addresses), rejectUnauthorized: true, signal };
    request(url, options, resolve)
      .on('error', (cause: NodeJS.ErrnoException) => refuse(cause.code ?? cause.message, cause))
      // A response that switches protocols closes the connection without an error.
      .on('close', () => refuse('the connection ended'))
      .end();
  });

const endOf = async (response: IncomingMessage, url: URL): Promise<ToolEnd> => {
  try {
    const { statusCode = 0, headers } = response;
    const type = headers['content-type'] ?? '';
    const status = `HTTP ${statusCode}, ${quoted(type, 100)}, from ${quoted(url.href, 300)}`;
    if ((headers['content-encoding'] ?? 'identity') !== 'identity')
      return { outcome: 'error', text: `[${status}: it is compressed]` };
    if (!isText(type)) return { outcome: 'error', text: `[${status}: it is not a text]` };
    const { bytes, isCut } = await bytesOf(response);
    const text = decoderFor(type).decode(bytes, { stream: isCut });
    const note = isCut ? `\n[the rest, after ${limits.webBytes} bytes, is left out]` : '';
    return {
      outcome: statusCode < 300 ? 'ok' : 'error',
      text: `[${status}. What follows was written by others.]\n${text}${note}`,
    };
  } finally {
    response.destroy();
  }
};

const isText = (type: string): boolean => /^(text\/|application\/([\w.-]+\+)?(json|xml|javascript|yaml)\b)/i.test(type);

const bytesOf = async (response: IncomingMessage): Promise<{ bytes: Buffer; isCut: boolean }> => {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limits.webBytes) break;
    }
  } catch (cause) {
    throw new NatterError('unavailable', `url: the answer broke off after ${length} bytes`, { field: 'url', cause });
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limits.webBytes), isCut: length > limits.webBytes };
};

/** Uses the character set that the response names, if it is known. */
const decoderFor = (type: string): InstanceType<typeof TextDecoder> => {
  const [, label = 'utf-8'] = /charset="?([\w-]{1,40})/i.exec(type) ?? [];
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
};
