import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { errorMessage, NatterError } from '../../kit/errors.ts';
import type { SnapshotSigner } from '../../wire/snapshot.ts';

/** Tells snapshots of this installation from all others (Ed25519). Who has only the public half believes snapshots, and can make none. */
export class SnapshotKey implements SnapshotSigner {
  readonly #secret: KeyObject | null;
  readonly #open: KeyObject;

  private constructor(secret: KeyObject | null, open: KeyObject) {
    this.#secret = secret;
    this.#open = open;
  }

  /** Reads a PEM of the private or of the public half. Throws `NatterError('invalid')` on anything else. */
  static from(pem: string): SnapshotKey {
    try {
      const secret = pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : null;
      const open = createPublicKey(pem);
      if (open.asymmetricKeyType !== 'ed25519') throw new RangeError(`it is of type ${open.asymmetricKeyType}`);
      return new SnapshotKey(secret, open);
    } catch (error) {
      throw new NatterError('invalid', `not an Ed25519 key in PEM: ${errorMessage(error)}`, { cause: error });
    }
  }

  /** A new key as PEM, private half. */
  static newPem(): string {
    return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** Throws `NatterError('forbidden')` with only the public half. */
  sign(bytes: Uint8Array): Uint8Array {
    if (this.#secret === null) throw new NatterError('forbidden', 'this process may read snapshots, but not write any');
    return sign(null, bytes, this.#secret);
  }

  isOurs(bytes: Uint8Array, signature: Uint8Array): boolean {
    return verify(null, bytes, this.#open, signature);
  }
}

let own: SnapshotKey | undefined;

/** A key that lives as long as this process: without one of the installation, only its own snapshots are believed. */
export const processSnapshotKey = (): SnapshotKey => {
  own ??= SnapshotKey.from(SnapshotKey.newPem());
  return own;
};
