import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * Certificates for tests, written byte by byte (X.509 in DER): not every machine that runs the tests has the `openssl` program, and Node can
 * read certificates but not make them.
 */

/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}
export interface Authority extends Certificate {
  /** A certificate for these host names or IP addresses; valid now, unless `expired`. */
  issue(hosts: readonly string[], options?: { expired?: boolean }): Certificate;
}

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const yes = der(0x01, Buffer.from([0xff]));

const signature = sequence(oid('2a8648ce3d040302')); // ECDSA with SHA-256
const commonName = '550403';
const subjectAltName = '551d11';
const basicConstraints = '551d13';

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(oid(commonName), der(0x0c, Buffer.from(text)))));
const timeOf = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));
const hostOf = (host: string): Buffer =>
  isIP(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

interface Contents {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: string;
  readonly issuerKey: KeyObject;
  readonly expired?: boolean | undefined;
  readonly extension: Buffer;
}
const dayMs = 86_400_000;

const certify = ({ subject, publicKey, issuer, issuerKey, expired, extension }: Contents): string => {
  const end = Date.now() + (expired ? -dayMs : dayMs);
  const contents = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial number
    signature,
    nameOf(issuer),
    sequence(timeOf(end - 2 * dayMs), timeOf(end)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  return pem(sequence(contents, signature, der(0x03, Buffer.from([0]), sign('sha256', contents, issuerKey))));
};

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const exported = (key: KeyObject): string => String(key.export({ type: 'pkcs8', format: 'pem' }));

/** Makes an authority with a key of its own. */
export const createAuthority = (name = 'an authority'): Authority => {
  const own = keyPair();
  const constraints = sequence(oid(basicConstraints), yes, der(0x04, sequence(yes)));
  const signed = { issuer: name, issuerKey: own.privateKey };
  return {
    certificate: certify({ subject: name, publicKey: own.publicKey, ...signed, extension: constraints }),
    key: exported(own.privateKey),
    issue: (hosts, { expired } = {}) => {
      const { publicKey, privateKey } = keyPair();
      const names = sequence(oid(subjectAltName), der(0x04, sequence(...hosts.map(hostOf))));
      const certificate = certify({ subject: 'a test', publicKey, ...signed, expired, extension: names });
      return { certificate, key: exported(privateKey) };
    },
  };
};
