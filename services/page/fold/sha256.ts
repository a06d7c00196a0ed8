/** SHA-256 without Node and without waiting: the fold keeps digests of ids (ADR 20), and cannot wait for the browser's own. */

const primes = (count: number): number[] => {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++)
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  return found;
};
/** The first 32 bits of the fractional part. */
const fraction = (number: number): number => ((number - Math.floor(number)) * 2 ** 32) | 0;
const start = primes(8).map((prime) => fraction(Math.sqrt(prime)));
const rounds = primes(64).map((prime) => fraction(Math.cbrt(prime)));

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
const at = (words: ArrayLike<number>, index: number): number => words[index] as number;

const padded = (bytes: Uint8Array): DataView => {
  const whole = new Uint8Array((((bytes.length + 8) >> 6) + 1) * 64);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const view = new DataView(whole.buffer);
  view.setUint32(whole.length - 4, bytes.length * 8);
  return view;
};

/** The words of one block: written anew for each, because a new one for each costs most of the time. */
const words = new Int32Array(64);
const schedule = (view: DataView, offset: number): void => {
  for (let index = 0; index < 16; index++) words[index] = view.getInt32(offset + index * 4);
  for (let index = 16; index < 64; index++) {
    const [early, late] = [at(words, index - 15), at(words, index - 2)];
    const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[index] = at(words, index - 16) + first + at(words, index - 7) + second;
  }
};

const digest = new Int32Array(8);
/** Takes the words into the digest. The eight letters are those of the standard. */
const compress = (): void => {
  let [a, b, c, d] = [at(digest, 0), at(digest, 1), at(digest, 2), at(digest, 3)];
  let [e, f, g, h] = [at(digest, 4), at(digest, 5), at(digest, 6), at(digest, 7)];
  for (let index = 0; index < 64; index++) {
    const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + high + ((e & f) ^ (~e & g)) + at(rounds, index) + at(words, index)) | 0;
    const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const added = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index++) digest[index] = at(digest, index) + at(added, index);
};

/** The digest of a text or of bytes, in hexadecimal or base64url; as `hash` of `node:crypto`, for this algorithm alone. */
export const hash = (_: 'sha256', data: string | Uint8Array, encoding: 'hex' | 'base64url' = 'hex'): string => {
  const view = padded(typeof data === 'string' ? new TextEncoder().encode(data) : data);
  digest.set(start);
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    schedule(view, offset);
    compress();
  }
  const bytes = new Uint8Array(digest.byteLength);
  const written = new DataView(bytes.buffer);
  for (let index = 0; index < 8; index++) written.setInt32(index * 4, at(digest, index));
  if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
};
