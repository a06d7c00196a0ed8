import { nkeys } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { publicKeyOf, signWith } from '../../../shared/wire/nkey.ts';

const madeBy = (make: typeof nkeys.createUser) => {
  const pair = make();
  return { pair, seed: Buffer.from(pair.getSeed()).toString() };
};

test('a seed has the public key that the client of the broker makes of it, and signs as it does', () => {
  for (let round = 0; round < 20; round++) {
    const { pair, seed } = madeBy(nkeys.createUser);
    expect(publicKeyOf(seed)).toBe(pair.getPublicKey());
    const nonce = `nonce-${round}`;
    expect(pair.verify(Buffer.from(nonce), Buffer.from(signWith(seed, nonce), 'base64'))).toBe(true);
    expect(pair.verify(Buffer.from('another'), Buffer.from(signWith(seed, nonce), 'base64'))).toBe(false);
  }
});

const { seed } = madeBy(nkeys.createUser);
test.each([
  ['nothing', ''],
  ['no letters of a seed', 'SU!'],
  ['a part', seed.slice(0, -1)],
  ['one letter changed', seed.slice(0, 20) + (seed[20] === 'A' ? 'B' : 'A') + seed.slice(21)],
  ['the seed of an account', madeBy(nkeys.createAccount).seed],
  ['a public key', publicKeyOf(seed)],
])('%s is refused', (_, text) => {
  expect(() => publicKeyOf(text)).toThrow('not the seed of a user');
});
