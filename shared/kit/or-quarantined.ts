import { AssertionError } from './assert.ts';
import { hasCode, NatterError } from './errors.ts';

const quarantined = (cause: unknown): unknown =>
  hasCode(cause, 'invalid') || cause instanceof AssertionError
    ? new NatterError('quarantined', 'part of the history cannot be read by this version; `natter doctor` has details', { cause })
    : cause;

/**
 * The result of work that reads the log. Throws `quarantined` when a record cannot be read or folded: that is the log's fault,
 * not the caller's, so it is never `invalid`.
 */
export const orQuarantined = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw quarantined(error);
  }
};
