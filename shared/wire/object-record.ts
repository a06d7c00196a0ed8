import { z } from 'zod';
import { sessionKeyProblem } from '../domain/keys/session-key.ts';

/**
 * The description of one object as JetStream's object store keeps it, so that every NATS client can read ours
 * (`nats object get natter_attachments 'agent:main:main/<digest>'`).
 */
export const objectRecord = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.int().min(0),
  chunks: z.int().min(0),
  mtime: z.iso.datetime(),
  deleted: z.boolean().optional(),
});
export type ObjectRecord = z.infer<typeof objectRecord>;

export const objectName = (key: string, digest: string): string => `${key}/${digest}`;

/** The session and the digest of an object's name; `null`: it is not one of ours. */
export const parsedObjectName = (name: string): { key: string; digest: string } | null => {
  const at = name.lastIndexOf('/');
  const [key, digest] = [name.slice(0, Math.max(0, at)), name.slice(at + 1)];
  return /^[0-9a-f]{64}$/.test(digest) && sessionKeyProblem(key) === null ? { key, digest } : null;
};

export const encodeObjectRecord = (record: ObjectRecord, bucket: string, digest: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...record,
      ...{ bucket, description: '', options: { max_chunk_size: chunkBytes } },
      digest: record.deleted ? '' : `SHA-256=${Buffer.from(digest, 'hex').toString('base64url')}=`,
    }),
  );

/** `null`: not a description. */
export const decodeObjectRecord = (data: Uint8Array): ObjectRecord | null => {
  try {
    return objectRecord.parse(JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString()));
  } catch {
    return null;
  }
};

export const chunkBytes = 256 * 1024;
