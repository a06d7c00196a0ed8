import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { toolCall } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Tool, ToolScope } from '../../../shared/ports/tools.ts';
import { defineTool } from './define.ts';

/** `read_output`: returns pages of the session's long outputs, which the log keeps. */
export const readOutputTool = (events: EventLog): Tool => {
  /** The sequences of commits whose outputs were requested, so that the next page takes a single read. */
  const places = new LRUCache<string, number>({ max: limits.outputPlaces });

  /** The page, or `null`. Searches only this generation: what was said before a reset is out of reach. */
  const pageOf = async ({ key, sessionId }: ToolScope, callId: string, page: number, signal: AbortSignal) => {
    const place = `${key} ${sessionId} ${callId}`;
    const seq = places.get(place);
    let left: number = limits.outputSearchCommits;
    for await (const commit of events.read(key, seq === undefined ? {} : { after: seq - 1, upTo: seq })) {
      signal.throwIfAborted();
      if (left-- === 0) throw new NatterError('too_large', 'the session is too long to be searched for it');
      if (commit.sessionId !== sessionId) continue;
      const pages = commit.events.flatMap((event) => (event.type === 'tool_output' && event.callId === callId ? [event] : []));
      if (pages.length === 0) continue;
      places.set(place, commit.seq);
      return { text: pages.find((stored) => stored.page === page)?.text ?? null, pages: pages.length };
    }
    return null;
  };

  return defineTool({
    name: 'read_output',
    description: 'Reads a page of a long output of an earlier call in this session.',
    input: z.strictObject({
      callId: toolCall.shape.callId.describe('The call whose output it is.'),
      page: z
        .int()
        .min(1)
        .max(Math.ceil(limits.toolOutputBytes / limits.toolPageBytes) + 1)
        .describe('Its number, from 1 on.'),
    }),
    usual: 'allow',
    openToAll: true,
    idempotent: true,
    readsOnly: true,
    line: ({ callId, page }) => `read page ${page} of the output of the call ${quoted(callId)}`,
    act: async ({ callId, page }, { scope }, signal) => {
      const found = await pageOf(scope, callId, page, signal);
      if (found === null)
        throw new NatterError('not_found', `callId: no call ${quoted(callId)} of this session has a long output`);
      if (found.text === null) throw new NatterError('invalid', `page: there are ${found.pages}; use 1 to ${found.pages}`);
      return found.text;
    },
  });
};
