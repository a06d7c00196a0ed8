import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { credsAuthenticator } from '@nats-io/transport-node';
import type { BrokerCredentials } from '../../../shared/adapters/nats/client/connection.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { publicKeyOf } from '../../../shared/wire/nkey.ts';

/**
 * The credentials that the configuration names for a broker of one's own. All files are read and checked now, and read again for each
 * connection. Throws `NatterError('invalid')` that names the field: a file is missing, unreadable, or not what it should be.
 */
export const credentialsFor = ({ nats: { tls, credsFile, nkeySeedFile, usersDir } }: Pick<Config, 'nats'>): BrokerCredentials => {
  if (tls !== undefined) checkTlsFiles(tls);
  const [first, second] = Object.entries({ credsFile, nkeySeedFile, usersDir }).filter(([, path]) => path !== undefined);
  if (first !== undefined && second !== undefined) {
    const field = `nats.${second[0]}`;
    throw new NatterError('invalid', `${field}: nats.${first[0]} is set too; use one of them`, { field });
  }
  return {
    ...(tls && { tls }),
    ...(credsFile !== undefined && { creds: fileNow('nats.credsFile', credsFile, checkedCreds) }),
    ...(nkeySeedFile !== undefined && { nkeySeed: fileNow('nats.nkeySeedFile', nkeySeedFile, seedIn) }),
  };
};

/** Reads a file, and what `read` makes of its text. */
const fileAs = <T>(field: string, path: string, read: (text: string) => T): T => {
  try {
    return read(readFileSync(path, 'utf8'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const fix = code === 'ENOENT' ? 'name a file that exists' : 'let this user read it, or name another file';
    throw new NatterError('invalid', `${field}: cannot use ${path}: ${errorMessage(cause)}; ${fix}`, { field, cause });
  }
};

/** Reads the file now and with each call. A file that cannot be used then may be about to be replaced: what it had before stays. */
const fileNow = (field: string, path: string, read: (text: string) => string): (() => string) => {
  let last = fileAs(field, path, read);
  return () => {
    try {
      last = fileAs(field, path, read);
    } catch {}
    return last;
  };
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The text of a credentials file, if a client could sign with it. */
const checkedCreds = (text: string): string => {
  try {
    credsAuthenticator(bytesOf(text))('a nonce');
  } catch {
    throw new Error('it has no JWT and seed of a user, as `nsc generate creds` writes them');
  }
  return text;
};

/** The seed of a user in a text, which may have comments around it. */
const seedIn = (text: string): string => {
  const seed = /\bSU[A-Z2-7]{56}\b/.exec(text)?.[0] ?? '';
  try {
    publicKeyOf(seed);
  } catch {
    throw new Error('it has no seed of a user (SU…), as `nsc generate nkey --user` writes it');
  }
  return seed;
};

const checkTlsFiles = ({ caFile, certFile, keyFile }: NonNullable<BrokerCredentials['tls']>): void => {
  const certificate = (text: string): X509Certificate => new X509Certificate(text);
  if (caFile !== undefined) fileAs('nats.tls.caFile', caFile, certificate);
  if (certFile === undefined || keyFile === undefined) return;
  const own = fileAs('nats.tls.certFile', certFile, certificate);
  fileAs('nats.tls.keyFile', keyFile, (text) => {
    if (!own.checkPrivateKey(createPrivateKey(text))) throw new Error('it is not the key of nats.tls.certFile');
  });
};
