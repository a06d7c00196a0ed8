import type { ResumeRequest } from '../domain/values/delivery.ts';

/**
 * Asks the delivery services to try parked accounts again at once. Sent to whoever is there, and not kept: where one is lost nothing is,
 * because an account is tried by itself as well.
 */
export interface ResumeRequests {
  send(request: ResumeRequest): void;
  /** Passes each request to `receive` until the returned function is called. */
  subscribe(receive: (request: ResumeRequest) => void): () => void;
}
