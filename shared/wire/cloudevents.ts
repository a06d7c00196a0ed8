import type { Commit } from '../domain/session/envelope.ts';
import { headlineOf } from '../domain/session/headline.ts';

/**
 * CloudEvents 1.0 attributes of a commit, in NATS binary mode: one header each, so that any consumer can route without decoding.
 * Source: CloudEvents NATS protocol binding 1.0. Values are percent-encoded as in the binding.
 */
export const cloudEventHeaders = (commit: Commit): Record<string, string> => ({
  'ce-specversion': '1.0',
  'ce-id': encodeURIComponent(commit.id),
  'ce-source': `/natter/sessions/${encodeURIComponent(commit.key)}`,
  'ce-type': `natter.${headlineOf(commit.events)}`,
  'ce-time': new Date(commit.at).toISOString(),
  'ce-subject': encodeURIComponent(commit.key),
  'content-type': 'application/msgpack',
  ...traceHeader(commit),
});

/** The standard header of a message with a trace. */
export const traceHeader = ({ traceparent }: { readonly traceparent?: string | undefined }): { traceparent?: string } =>
  traceparent === undefined ? {} : { traceparent };
