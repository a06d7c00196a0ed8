import type { RecordedCommit } from '../domain/session/envelope.ts';
import { NatterError } from '../kit/errors.ts';
import type { StoredCommit } from '../ports/event-log.ts';
import { decode, digestOf } from './codec.ts';

/** What the chain needs of a stored commit. Its events are as they were stored, perhaps by another version. */
export type StoredLink = Pick<RecordedCommit, 'key' | 'seq' | 'rev' | 'prev' | 'digest' | 'events'>;

/**
 * Reads the link of a stored commit, at a fraction of the cost of reading the commit: fields that the chain does not use are not checked.
 * Throws `NatterError('invalid')` on bytes that are no commit of the key.
 */
export const linkOf = ({ key, seq, bytes }: StoredCommit): StoredLink => {
  const fields = decode(bytes) as Partial<RecordedCommit> | null;
  if (!isLink(fields)) throw new NatterError('invalid', `message ${seq} of ${key} is not a commit`);
  if (fields.key !== key) throw new NatterError('invalid', `message ${seq} of ${key} says it belongs to ${fields.key}`);
  const { rev, prev, events } = fields;
  return { key: fields.key, seq, rev, prev, digest: digestOf(bytes), events };
};

const isLink = (fields: Partial<RecordedCommit> | null): fields is RecordedCommit =>
  typeof fields === 'object' &&
  fields !== null &&
  Number.isSafeInteger(fields.rev) &&
  (fields.prev === undefined || fields.prev === null || typeof fields.prev === 'string') &&
  Array.isArray(fields.events);
