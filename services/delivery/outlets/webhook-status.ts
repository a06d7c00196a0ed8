import { errorMessage } from '../../../shared/kit/errors.ts';
import type { FindResult } from '../../../shared/ports/outlet.ts';
import { fetchSigned, messageIdIn, type SignedOptions } from './webhook-request.ts';

/**
 * Asks the receiver whether it has the message: 2xx means yes, 404 no, anything else that it cannot say. The answer names the message, so that
 * no page of somebody else's is taken for one. Throws nothing.
 */
export const findByStatus = async (options: SignedOptions, id: string, signal: AbortSignal): Promise<FindResult> => {
  const url = new URL(options.url);
  url.searchParams.set('id', id);
  try {
    const { status, headers } = await fetchSigned({ ...options, url: url.href }, { method: 'GET', id, body: '' }, signal);
    if (headers.get('natter-delivery-id') !== id) return unresolved(`HTTP ${status} without the message's Natter-Delivery-Id`);
    if (status >= 200 && status < 300) return { kind: 'sent', ...messageIdIn(headers) };
    return status === 404 ? { kind: 'not_sent' } : unresolved(`HTTP ${status}`);
  } catch (error) {
    return unresolved(errorMessage(error));
  }
};

const unresolved = (why: string): FindResult => ({ kind: 'unresolved', detail: `the status URL: ${why}` });
