import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { describe, expect, test, vi } from 'vitest';
import { installationIn } from '../../../services/cli/installation.ts';
import { existingBroker, provisionBroker } from '../../../services/cli/runtime/broker.ts';
import { credentialsFor } from '../../../services/cli/runtime/broker-credentials.ts';
import { type Connections, openConnections } from '../../../shared/adapters/nats/client/connection.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { afterwards } from '../../support/afterwards.ts';
import { credentialsOfUser } from '../../support/broker-jwt.ts';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { startServer, type TestServer } from '../../support/nats.ts';

/** A broker of one's own: TLS, credentials in files, and what is said when they do not fit. */

const here = ['127.0.0.1'];
const [authority, other] = [createAuthority('ours'), createAuthority('other')];

const folderOf = () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-tls-'));
  afterwards(async () => rmSync(folder, { recursive: true, force: true }));
  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return { folder, put };
};
type Files = ReturnType<typeof folderOf>;

const start = async ({ folder, put }: Files, config: string): Promise<TestServer> => {
  const file = put('server.conf', `host: 127.0.0.1\njetstream { store_dir: "${folder}/store" }\n${config}`);
  const server = await startServer({ arguments: ['-c', file], hostile: true });
  afterwards(() => server.stop());
  return server;
};
/** A server that speaks TLS. `clients`: the authority whose certificates it wants to see. */
const startTls = (files: Files, { certificate, key }: Certificate, clients?: Authority): Promise<TestServer> => {
  const [cert, own] = [files.put('server.pem', certificate), files.put('server.key', key)];
  const verify = clients ? `ca_file: "${files.put('clients.pem', clients.certificate)}", verify: true` : '';
  return start(files, `tls { cert_file: "${cert}", key_file: "${own}", timeout: 5, ${verify} }`);
};

/** The configuration of an installation whose broker this is. */
const configFor = ({ folder }: Files, url: string, nats: object = {}) => {
  const file = join(folder, 'natter.json');
  writeFileSync(file, JSON.stringify({ dataDir: folder, nats: { url, requestTimeoutMs: 500, ...nats } }));
  return loadConfig({ file, env: {}, home: folder });
};
const open = async (files: Files, url: string, nats: object = {}): Promise<Connections> => {
  const config = configFor(files, url, nats);
  const settings = { servers: url, name: 'test', requestTimeoutMs: 500, ...credentialsFor(config) };
  const connections = await openConnections(settings);
  afterwards(() => connections.close());
  return connections;
};
const secure = ({ port }: TestServer): string => `tls://127.0.0.1:${port}`;
const isWell = (connections: Connections) => vi.waitFor(() => expect(connections.problems()).toEqual([]));
/** Waits until the reason is told. */
const expectReason = (connections: Connections, reason: RegExp) =>
  vi.waitFor(() => {
    const text = connections.problems().join('\n');
    expect(text).toMatch(/not connected to the broker: ./);
    expect(text).toMatch(reason);
  });

describe('why there is no connection', () => {
  const trust = (files: Files) => ({ tls: { caFile: files.put('ca.pem', authority.certificate) } });

  test('an authority that nobody knows', async () => {
    const files = folderOf();
    const server = await startTls(files, other.issue(here));
    await expectReason(await open(files, secure(server), trust(files)), /authority that is not known.*nats\.tls\.caFile/);
    // Without any setting the server still demands TLS.
    const unset = await open(files, server.url);
    await expectReason(unset, /authority that is not known.*nats\.tls\.caFile/);
    expect(unset.problems()).toMatchObject([{ code: 'broker_away', fix: expect.stringMatching(/^set nats\.tls\.caFile to/) }]);
  });

  test.each([['broker.example'], ['localhost']])('a certificate for %s, when the address is an IP address', async (name) => {
    const files = folderOf();
    const server = await startTls(files, authority.issue([name]));
    await expectReason(await open(files, secure(server), trust(files)), /for another host.*IP: 127\.0\.0\.1.*nats\.url/);
  });

  test('a certificate that has expired', async () => {
    const files = folderOf();
    const server = await startTls(files, authority.issue(here, { expired: true }));
    await expectReason(await open(files, secure(server), trust(files)), /has expired.*renew/);
  });

  test('a client without a certificate, with one that the broker refuses, and with a right one', async () => {
    const files = folderOf();
    const server = await startTls(files, authority.issue(here), other);
    const withPair = ({ certificate, key }: Certificate, name: string) => ({
      tls: { ...trust(files).tls, certFile: files.put(`${name}.pem`, certificate), keyFile: files.put(`${name}.key`, key) },
    });
    await expectReason(await open(files, secure(server), trust(files)), /requires a certificate.*nats\.tls\.certFile/);
    const refused = await open(files, secure(server), withPair(authority.issue(['client']), 'refused'));
    await expectReason(refused, /refuses the certificate.*nats\.tls\.certFile/);
    await isWell(await open(files, secure(server), withPair(other.issue(['client']), 'right')));
  });

  test('a broker that does not speak TLS, whether the address or the files ask for it', async () => {
    const files = folderOf();
    const server = await start(files, '');
    await expectReason(await open(files, secure(server)), /does not speak TLS.*nats:\/\//);
    await expectReason(await open(files, server.url, trust(files)), /does not speak TLS/);
  });

  test('credentials that the broker refuses, and nobody there', async () => {
    const files = folderOf();
    const server = await start(files, 'authorization { token: "right" }');
    await expectReason(await open(files, server.url), /refuses our credentials.*nats\.token.*nats\.credsFile/);
    await server.kill9();
    await expectReason(await open(files, server.url), /connection refused/);
  });

  test('a command tells the cause, the address and the one fix that helps', async () => {
    const files = folderOf();
    const server = await startTls(files, other.issue(here));
    const config = configFor(files, secure(server), trust(files));
    const failed = provisionBroker(config, existingBroker(config, installationIn(files.folder)));
    const text = String(await failed.catch((error: Error) => error.message));
    expect(text).toMatch(/not known here \(.*\) \(tls:\/\/127\.0\.0\.1:\d+\); set nats\.tls\.caFile to .*authority$/);
  });
});

test('a subject that the user may not use is named, with what it may not do', async () => {
  const files = folderOf();
  const server = await start(
    files,
    'authorization { users: [{ user: a, password: b, permissions: { publish: { deny: "secret.>" }, subscribe: { deny: "hidden.>" } } }] }',
  );
  const opened = await open(files, `nats://a:b@127.0.0.1:${server.port}`);
  opened.commits.publish('secret.one');
  opened.consumers.subscribe('hidden.two', { callback: () => {} });
  await vi.waitFor(() => {
    const text = opened.problems().join('\n');
    expect(text).toMatch(/may not publish to "secret\.one"; give it that right/);
    expect(text).toMatch(/may not subscribe to "hidden\.two"/);
  });
});

test('certificates that are renewed while it runs are used for the next connection', async () => {
  const files = folderOf();
  const [before, after] = [createAuthority('before'), createAuthority('after')];
  const server = await startTls(files, before.issue(here));
  const caFile = files.put('ca.pem', before.certificate);
  const opened = await open(files, secure(server), { tls: { caFile } });
  await isWell(opened);
  const renewed = after.issue(here);
  files.put('server.pem', renewed.certificate);
  files.put('server.key', renewed.key);
  await server.restart();
  await expectReason(opened, /not known|refused|closed/);
  files.put('ca.pem', after.certificate);
  await isWell(opened);
});

describe('credentials in files', () => {
  test('the seed of an nkey; one that is replaced is used for the next connection', async () => {
    const files = folderOf();
    const [first, second] = [nkeys.createUser(), nkeys.createUser()];
    const users = (user: typeof first) => `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;
    const textOf = (user: typeof first) => `# of a test\n${new TextDecoder().decode(user.getSeed())}\n`;
    const server = await start(files, users(first));
    const nkeySeedFile = files.put('user.nk', textOf(first));
    const opened = await open(files, server.url, { nkeySeedFile });
    await isWell(opened);
    files.put('server.conf', `host: 127.0.0.1\njetstream { store_dir: "${files.folder}/store" }\n${users(second)}`);
    await server.restart();
    await expectReason(opened, /refuses our credentials|refused|closed/);
    // A file that is half written must not end the connection for good.
    files.put('user.nk', '');
    await expectReason(opened, /refuses our credentials/);
    files.put('user.nk', textOf(second));
    await isWell(opened);
  });

  test('a JWT and its seed', async () => {
    const files = folderOf();
    const { serverConfig, creds } = credentialsOfUser();
    const server = await start(files, serverConfig);
    const opened = await open(files, server.url, { credsFile: files.put('user.creds', creds) });
    await isWell(opened);
    expect(opened.commits.info?.auth_required).toBe(true);
    await expectReason(await open(files, server.url), /refuses our credentials/);
  });

  const pair = authority.issue(['client']);
  test.each<[string, (files: Files) => object, RegExp]>([
    [
      'no file',
      ({ folder }) => ({ credsFile: join(folder, 'none') }),
      /nats\.credsFile: cannot use .*none: ENOENT.*; name a file/,
    ],
    ['a folder', ({ folder }) => ({ credsFile: folder }), /nats\.credsFile: cannot use .*EISDIR.*; let this user read it/],
    ['no credentials', ({ put }) => ({ credsFile: put('a', 'hello') }), /nats\.credsFile: .*has no JWT and seed/],
    ['no seed', ({ put }) => ({ nkeySeedFile: put('a', 'SUAhello') }), /nats\.nkeySeedFile: .*has no seed of a user/],
    ['a seed with a slip', ({ put }) => ({ nkeySeedFile: put('a', `SU${'A'.repeat(56)}`) }), /nats\.nkeySeedFile: .*has no seed/],
    ['no certificate', ({ put }) => ({ tls: { caFile: put('a', 'hello') } }), /nats\.tls\.caFile: cannot use/],
    [
      "another certificate's key",
      ({ put }) => ({ tls: { certFile: put('a', pair.certificate), keyFile: put('b', authority.key) } }),
      /nats\.tls\.keyFile: .*not the key of nats\.tls\.certFile/,
    ],
    [
      'a certificate without its key',
      ({ put }) => ({ tls: { certFile: put('a', pair.certificate) } }),
      /nats\.tls\.keyFile: is missing/,
    ],
    [
      'two ways',
      ({ put }) => ({ credsFile: put('a', ''), nkeySeedFile: put('b', '') }),
      /nats\.nkeySeedFile: nats\.credsFile is set too; use one/,
    ],
  ])('%s is an error that names the field', (_, nats, message) => {
    const files = folderOf();
    expect(() => credentialsFor(configFor(files, 'tls://127.0.0.1:1', nats(files)))).toThrowError(message);
  });

  test('variables name the files too, with the names that the nats program uses', () => {
    const env = { NATS_CA: '/a', NATS_CERT: '/b', NATS_KEY: '/c', NATS_CREDS: '/d', NATS_NKEY: '/e' };
    expect(loadConfig({ env, home: '/nowhere' }).nats).toMatchObject({
      tls: { caFile: '/a', certFile: '/b', keyFile: '/c' },
      ...{ credsFile: '/d', nkeySeedFile: '/e' },
    });
  });
});
