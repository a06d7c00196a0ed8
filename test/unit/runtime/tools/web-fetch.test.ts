import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { webFetchTool } from '../../../../services/session/tools/web-fetch.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { allowedUrl, checkHosts, type HostAddress, internet, isPublicAddress } from '../../../../shared/runtime/web-hosts.ts';
import { calling, parsed } from './calling.ts';

/** Names of this test's internet; all that are not here lead to its server. */
let names: Record<string, readonly string[]>;
let asked: string[];
let lookups: string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let port: number;

beforeEach(async () => {
  [names, asked, lookups] = [{}, [], []];
  answer = (_, response) => response.setHeader('content-type', 'text/plain; charset=utf-8').end('grüße');
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const addressesOf = async (host: string): Promise<HostAddress[]> => {
  lookups.push(host);
  return (names[host] ?? ['127.0.0.1']).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};
/** Only this test's server is public here; no configuration can say so. */
const net = { addressesOf, isPublic: (address: string) => address === '127.0.0.1' };
const fetching = (path = '', { signal = new AbortController().signal, host = 'a.test' } = {}) =>
  calling([webFetchTool([`a.test:${port}`, `*.b.test:${port}`], net)])(
    'web_fetch',
    { url: `http://${host}:${port}/${path}` },
    { signal },
  );
const error = (text: string) => ({ outcome: 'error', text: expect.stringContaining(text) });
const redirect = (to: string, status = 302) => {
  answer = (_, response) => response.writeHead(status, { location: to }).end();
};

describe('web_fetch', () => {
  test('gives status, type and text, and says that others wrote it', async () => {
    expect(await fetching('x?y=1')).toEqual({
      outcome: 'ok',
      text: `[HTTP 200, "text/plain; charset=utf-8", from "http://a.test:${port}/x?y=1". What follows was written by others.]\ngrüße`,
    });
    expect(asked).toEqual([`GET a.test:${port}/x?y=1`]);
  });
  test('sends nothing of ours', async () => {
    let headers = {};
    answer = (request, response) => {
      headers = request.headers;
      response.setHeader('content-type', 'text/plain').end();
    };
    await fetching();
    expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
  });
  test('a page with an error is an error, and can be read', async () => {
    answer = (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('gone');
    expect(await fetching()).toMatchObject({
      outcome: 'error',
      text: expect.stringMatching(/^\[HTTP 404, "text\/html", .*\]\ngone$/),
    });
  });
  test.each([
    ['text/plain; charset=iso-8859-1', Buffer.from('gr\u00fc\u00dfe', 'latin1'), 'grüße'],
    ['text/plain; charset="no-such"', Buffer.from('grüße'), 'grüße'],
    ['application/json', Buffer.from('{}'), '{}'],
    ['application/problem+json', Buffer.from('{}'), '{}'],
    ['text/html', Buffer.from([0x61, 0xff]), 'a\ufffd'],
  ])('reads %s', async (type, bytes, text) => {
    answer = (_, response) => response.setHeader('content-type', type).end(bytes);
    expect((await fetching()).text.split('\n')[1]).toBe(text);
  });
  test.each(['image/png', 'application/octet-stream', 'application/jsonx', 'multipart/form-data', ''])(
    'does not read %j',
    async (type) => {
      answer = (_, response) => (type === '' ? response.end('x') : response.setHeader('content-type', type).end('x'));
      expect(await fetching()).toEqual(error('it is not a text'));
    },
  );
  test('I11: nor what is compressed: it could grow without end', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end('x');
    expect(await fetching()).toEqual(error('it is compressed'));
  });
  test('I11: of a page without end only the beginning, whole characters, and the connection ends', async () => {
    let closed = false;
    answer = (_, response) => {
      response.setHeader('content-type', 'text/plain').on('close', () => {
        closed = true;
      });
      const go = () => {
        while (!closed && response.write('漢'.repeat(10_000)));
        if (!closed) response.once('drain', go);
      };
      go();
    };
    const end = await fetching();
    expect(end.text).toMatch(/\]\n漢+\n\[the rest, after \d+ bytes, is left out\]$/);
    expect(Buffer.byteLength(end.text)).toBeLessThan(limits.webBytes + 300);
    await vi.waitFor(() => expect(closed).toBe(true));
  });
  test('an answer that breaks off is an error', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '10' });
      response.write('half', () => response.destroy());
    };
    expect(await fetching()).toEqual(error('the answer broke off after 4 bytes'));
  });
  test.each(['no HTTP at all', 'HTTP/1.1 200 OK\r\nx: '.concat('y'.repeat(40_000))])(
    'what is no answer is an error (%#)',
    async (bytes) => {
      answer = ({ socket }) => socket.end(bytes);
      expect(await fetching()).toEqual(error('no answer: HPE_'));
    },
  );
  test('A11/125: a server that never answers, or never ends, can be left', async () => {
    for (const silent of [
      () => {},
      (_: unknown, response: ServerResponse) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('x'),
    ]) {
      answer = silent;
      const stop = new AbortController();
      const rejected = expect(fetching('', { signal: stop.signal })).rejects.toThrow('stopped');
      await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0));
      stop.abort(new Error('stopped'));
      await rejected;
      asked = [];
    }
  });
});

describe('I12: only hosts of the list', () => {
  const hosts = ['example.org', '*.Example.net', 'example.com:8443', '[2606:4700::1111]'];
  test.each([
    'http://example.org/',
    'https://EXAMPLE.org./x',
    'http://example.org:80/',
    'https://a.example.net/',
    'https://a.b.example.net/',
    'https://example.com:8443/',
    'http://[2606:4700::1111]/',
    'https://example.org/?q=http://evil.test/#@evil.test',
    'https://example.org\\@evil.test/',
  ])('%s may be asked', (url) => {
    expect(allowedUrl(url, hosts).hostname).not.toContain('evil');
  });
  test.each([
    ['https://evil.test/', /not allowed/],
    ['https://a.example.org/', /not allowed/],
    ['https://example.net/', /not allowed/],
    ['https://.example.net/', /not (allowed|a URL)/],
    ['https://aexample.net/', /not allowed/],
    ['https://example.org.evil.test/', /not allowed/],
    ['https://example.org@evil.test/', /credentials/],
    ['https://user:pass@example.org/', /credentials/],
    ['https://example.org:8443/', /not allowed/],
    ['http://example.org:443/', /not allowed/],
    ['https://example.com/', /not allowed/],
    ['https://evil.test\\.example.net/', /not allowed/],
    ['https://evil.test%2f.example.net/', /not a URL/],
    ['http://2130706433/', /not allowed/],
    ['http://0x7f.1/', /not allowed/],
    ['http://[::1]/', /not allowed/],
    ['ftp://example.org/', /use http or https/],
    ['file:///etc/passwd', /use http or https/],
    ['javascript:alert(1)', /use http or https/],
    ['data:text/plain,x', /use http or https/],
    ['//example.org/', /not a URL/],
    ['example.org', /not a URL/],
    ['', /not a URL/],
  ])('%s may not', (url, why) => {
    expect(() => allowedUrl(url, hosts)).toThrow(why);
    expect(() => allowedUrl(url, hosts)).toThrow(expect.objectContaining({ code: 'invalid', field: 'url' }));
  });
  test.each(['*', '', 'http://example.org', 'example.org/', '*.', 'a b', '*.*.org', 'a*b', 'user@host', '[::1'])(
    '%j is no host to allow',
    (host) => {
      expect(() => checkHosts(['example.org', host])).toThrow(
        expect.objectContaining({ code: 'invalid', field: 'tools.web.hosts[1]' }),
      );
    },
  );
  test.each(['example.org', '*.example.org', 'localhost:80', '10.0.0.1', '[::1]:80', 'xn--mnchen-3ya.de', 'A.b-c_d'])(
    '%j is one',
    (host) => {
      expect(() => checkHosts([host])).not.toThrow();
    },
  );
});

describe('I12: only addresses of the public internet', () => {
  test.each([
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001:0:1::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '2001:db8::1',
    '100::1',
    '5f00::1',
    '4000::1',
    'localhost',
    '',
    '1',
    '0x7f000001',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test('a name that leads to a private address is refused, and nothing is asked', async () => {
    names = { 'a.test': ['10.0.0.1'] };
    expect(await fetching()).toEqual(error('the host "a.test" is not on the public internet'));
    names = { 'a.test': [] };
    expect(await fetching()).toEqual(error('is not on the public internet'));
    expect(asked).toEqual([]);
  });
  test('also when another of its addresses is public', async () => {
    names = { 'a.test': ['127.0.0.1', '::ffff:10.0.0.1'] };
    expect(await fetching()).toEqual(error('is not on the public internet'));
    expect(asked).toEqual([]);
  });
  test('the name is looked up once, and the address that was judged is the one that is asked', async () => {
    let first = true;
    const rebinding = {
      isPublic: net.isPublic,
      addressesOf: async (host: string) => {
        lookups.push(host);
        const address = first ? '127.0.0.1' : '10.0.0.1';
        first = false;
        return [{ address, family: 4 }];
      },
    };
    const end = await calling([webFetchTool([`a.test:${port}`], rebinding)])('web_fetch', { url: `http://a.test:${port}/` });
    expect(end.outcome).toBe('ok');
    expect(lookups).toEqual(['a.test']);
  });
  test('without the gateway for tests this machine is refused, by name and by address', async () => {
    const hosts = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `[::ffff:7f00:1]:${port}`];
    for (const host of hosts) {
      const end = await calling([webFetchTool(hosts)])('web_fetch', { url: `http://${host}/` });
      expect(end).toEqual(error('is not on the public internet'));
    }
    expect(asked).toEqual([]);
  });
  test('a name that nobody knows is an error', async () => {
    const lost = { ...net, addressesOf: () => Promise.reject(new Error('ENOTFOUND')) };
    expect(await calling([webFetchTool(['a.test'], lost)])('web_fetch', { url: 'http://a.test/' })).toEqual(
      error('the host "a.test" cannot be found'),
    );
    await expect(internet.addressesOf('no-such-name.invalid')).rejects.toThrow();
  });
  test('a server that is not there is an error', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port: nobody } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const end = await calling([webFetchTool([`a.test:${nobody}`], net)])('web_fetch', { url: `http://a.test:${nobody}/` });
    expect(end).toEqual(error('no answer: ECONNREFUSED'));
  });
});

describe('I12: a page that leads elsewhere is judged anew', () => {
  test.each([301, 302, 303, 307, 308])('%i is followed, by GET', async (status) => {
    answer = (request, response) =>
      request.url === '/'
        ? response.writeHead(status, { location: `http://x.b.test:${port}/there` }).end()
        : response.setHeader('content-type', 'text/plain').end('there');
    expect((await fetching()).text).toMatch(/from "http:\/\/x\.b\.test:\d+\/there".*\nthere$/);
    expect(asked).toEqual([`GET a.test:${port}/`, `GET x.b.test:${port}/there`]);
    expect(lookups).toEqual(['a.test', 'x.b.test']);
  });
  test('relative, from where the page is', async () => {
    answer = (request, response) =>
      request.url === '/a/b'
        ? response.writeHead(302, { location: '../c' }).end()
        : response.setHeader('content-type', 'text/plain').end(request.url);
    expect((await fetching('a/b')).text).toMatch(/\n\/c$/);
  });
  test.each([
    ['another host', () => 'http://evil.test/', 'its host is not allowed'],
    ['another port', () => 'http://a.test:1/', 'its host is not allowed'],
    ['another scheme', () => 'file:///etc/passwd', 'use http or https'],
    ['credentials', () => `http://user:pass@a.test:${port}/`, 'credentials'],
    ['no URL', () => 'http://[', 'not a URL'],
  ])('to %s: refused', async (_, to, why) => {
    redirect(to());
    expect(await fetching()).toEqual(error(why));
    expect(asked).toHaveLength(1);
  });
  test('to a private address of an allowed host: refused', async () => {
    names = { 'x.b.test': ['169.254.169.254'] };
    redirect(`http://x.b.test:${port}/latest/meta-data/`);
    expect(await fetching()).toEqual(error('the host "x.b.test" is not on the public internet'));
    expect(asked).toHaveLength(1);
  });
  test('a host that moves between two steps is refused', async () => {
    redirect('/again');
    const { addressesOf } = net;
    let count = 0;
    const moving = {
      ...net,
      addressesOf: async (host: string) => (count++ === 0 ? addressesOf(host) : [{ address: '10.0.0.1', family: 4 }]),
    };
    const end = await calling([webFetchTool([`a.test:${port}`], moving)])('web_fetch', { url: `http://a.test:${port}/` });
    expect(end).toEqual(error('is not on the public internet'));
  });
  test('I11: and only so often', async () => {
    redirect('/again');
    expect(await fetching()).toEqual(error('it leads elsewhere more than 5 times'));
    expect(asked).toHaveLength(6);
  });
  test('without a place to go the page itself is the answer', async () => {
    answer = (_, response) => response.writeHead(302, { 'content-type': 'text/plain' }).end('nowhere');
    expect(await fetching()).toEqual(error('nowhere'));
  });
});

test.each([
  ['{}', /url: /],
  ['{"url":""}', /url: is empty/],
  ['{"url":["http://a.test/"]}', /url: /],
  ['{"url":"http://a.test/","method":"POST"}', /"method" is not an argument/],
  ['{"url":"http://a.test/","__proto__":{"hosts":[]}}', /"__proto__" is not an argument/],
  [JSON.stringify({ url: `http://a.test/${'x'.repeat(3_000)}` }), /url: /],
])('%s names the field', async (json, text) => {
  expect(await calling([webFetchTool(['a.test'], net)])('web_fetch', parsed(json))).toEqual({
    outcome: 'error',
    text: expect.stringMatching(text),
  });
});

describe('A5/62: an address has one spelling, so that rules about it count', () => {
  test.each([
    ['x/../private', 'private'],
    ['./private', 'private'],
    ['x/%2e%2e/private', 'private'],
    ['%70rivate', 'private'],
    ['a%2fb', 'a%2Fb'],
    ['private#top', 'private'],
    ['private?', 'private'],
    ['\\private', '/private'],
    ['pri\tvate', 'private'],
    ['private ', 'private'],
    ['grüße', 'gr%C3%BC%C3%9Fe'],
  ])('%j is to be written as %j', async (path, plain) => {
    expect(await fetching(path)).toEqual(error(`write it as "http://a.test:${port}/${plain}"`));
    expect(asked).toEqual([]);
    expect(await fetching(plain)).toMatchObject({ outcome: 'ok' });
  });
  test.each([
    [() => `HTTP://a.test:${port}/`],
    [() => `http://A.TEST:${port}/`],
    [() => `http://a.test.:${port}/`],
    [() => `http:a.test:${port}/`],
    [() => `http://a.test:0${port}/`],
    [() => `http://a.test:${port}`],
  ])('nor a host', async (url) => {
    const end = await calling([webFetchTool([`a.test:${port}`], net)])('web_fetch', { url: url() });
    expect(end).toEqual(error(`write it as "http://a.test:${port}/"`));
    expect(asked).toEqual([]);
  });
});

describe('TLS', () => {
  afterEach(() => vi.unstubAllEnvs());

  // Made for this test and known to nobody; it names itself as its issuer.
  const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgU9X5mK9bi+uPixpe
RqgS3+lAPDGzhCZXLWZZv2F8fJahRANCAAQLlyuPnUy3rdhVDOlU9sYX4+ushDv1
NuOFrNF+pU9QpPwhE9h2aaMsar/2Bkqwubl1jqRaa/KXhuWiV91We86u
-----END PRIVATE KEY-----`;
  const cert = `-----BEGIN CERTIFICATE-----
MIIBjDCCATKgAwIBAgIUNsfTCFeZJEoWGs/cTiZSIQ2LtQQwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGYS50ZXN0MCAXDTI2MTEyMTIxMzYwM1oYDzIxMjYxMDI4MjEz
NjAzWjARMQ8wDQYDVQQDDAZhLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQLlyuPnUy3rdhVDOlU9sYX4+ushDv1NuOFrNF+pU9QpPwhE9h2aaMsar/2Bkqw
ubl1jqRaa/KXhuWiV91We86uo2YwZDAdBgNVHQ4EFgQUHyPXZ9/F86dhszQZDtEa
yqv0p3QwHwYDVR0jBBgwFoAUHyPXZ9/F86dhszQZDtEayqv0p3QwDwYDVR0TAQH/
BAUwAwEB/zARBgNVHREECjAIggZhLnRlc3QwCgYIKoZIzj0EAwIDSAAwRQIhAMEq
oPLw1HRirwdJT1Dfp0j1VE92mwT5buhrF/CgLRbPAiBgfAFZx3T9j2hPAWSA9rVw
2cCudu2bOJynJJfajmaLqg==
-----END CERTIFICATE-----`;

  test.each(['', '0'])(
    'I12: a server whose certificate nobody vouches for is refused (NODE_TLS_REJECT_UNAUTHORIZED=%j)',
    async (env) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', env);
      const secure = createSecureServer({ key, cert }, (request, response) => {
        asked.push(`${request.url}`);
        response.end();
      });
      await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
      const { port: securePort } = secure.address() as AddressInfo;
      const host = `a.test:${securePort}`;
      const end = await calling([webFetchTool([host], net)])('web_fetch', { url: `https://${host}/` });
      expect(end).toEqual(error('no answer: DEPTH_ZERO_SELF_SIGNED_CERT'));
      expect(asked).toEqual([]);
      secure.close();
    },
  );
});

test('a server that changes the protocol gives no page, and nobody waits for it', async () => {
  answer = ({ socket }) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
  expect(await fetching()).toEqual(error('no answer'));
});
