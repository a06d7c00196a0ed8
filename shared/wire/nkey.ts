import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/**
 * Keys of users of the broker ("nkeys", https://github.com/nats-io/nkeys) on Node's own Ed25519. The client's JavaScript takes some 10 ms of
 * processor time for each use of a key, and a start has thirty.
 */

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** What stands before the 32 bytes of a key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The first byte makes the first letter of a public key a U. */
const userPrefix = 20 << 3;
const userSeed = /^SU[A-Z2-7]{56}$/;
const [keyAt, checksumAt] = [2, 34];

/** The public key of a user, `U…`. Throws an error for what is not the seed of a user, `SU…`. */
export const publicKeyOf = (seed: string): string => {
  const { x = '' } = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' });
  const key = Buffer.from([userPrefix, ...Buffer.from(x, 'base64url')]);
  return toBase32(Buffer.concat([key, checksumOf(key)]));
};

/** Signs what a broker gives for it, in base64. Throws an error for what is not the seed of a user. */
export const signWith = (seed: string, nonce: string): string =>
  sign(null, Buffer.from(nonce), privateKeyOf(seed)).toString('base64');

const privateKeyOf = (seed: string): KeyObject => {
  const bytes = fromBase32(seed);
  const isWhole = checksumOf(bytes.subarray(0, checksumAt)).equals(bytes.subarray(checksumAt));
  if (!userSeed.test(seed) || !isWhole) throw new Error('not the seed of a user (SU…)');
  const key = Buffer.concat([pkcs8, bytes.subarray(keyAt, checksumAt)]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
};

/** CRC-16/XMODEM, the low byte first. */
const checksumOf = (bytes: Buffer): Buffer => {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return Buffer.from([crc & 0xff, crc >> 8]);
};

/** Five bits a letter, without padding (RFC 4648). */
const toBase32 = (bytes: Buffer): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{1,5}/g, (five) => alphabet.charAt(Number.parseInt(five.padEnd(5, '0'), 2)));
};

const fromBase32 = (text: string): Buffer => {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};
