import type { NatterEvent, StreamItem } from './types.ts';

/** What a frame of a stream hands out. `kind` is `delta`, `gap`, or the type of an event. */
export const itemOf = (kind: string | undefined, data: unknown): StreamItem =>
  kind === 'delta' ? ({ ...(data as object), type: 'delta' } as StreamItem) : (data as NatterEvent);
