import type { NatterEvent, StreamItem } from './types.ts';

/** The item for a frame of a stream. `kind` is `delta`, `gap`, `damage`, or an event type. */
export const itemOf = (kind: string | undefined, data: unknown): StreamItem =>
  kind === 'delta' ? ({ ...(data as object), type: 'delta' } as StreamItem) : (data as NatterEvent);
