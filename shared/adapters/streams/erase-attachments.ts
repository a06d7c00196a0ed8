import { attachedIn } from '../../domain/session/attached.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { isUnreadable } from '../../kit/errors.ts';
import type { Ports } from '../../ports/index.ts';
import { readableCommits } from './readable-commits.ts';

/**
 * Removes what came with the messages before an erasure, and what was stored for messages that the session never got. What was said again since
 * then stays, and what was stored for the first time since then: its message may be on its way. Resolves with how many contents it removed.
 */
export const eraseAttachments = async (
  ports: Pick<Ports, 'events' | 'attachments' | 'clock'>,
  { key, seq, at }: RecordedCommit,
  before: ReadonlySet<string>,
): Promise<number> => {
  const { attachments, events } = ports;
  const through = (await events.last(key).catch(orUnreadable))?.seq ?? seq;
  const since = new Set<string>();
  for await (const commit of readableCommits(ports, key, { after: seq, through }))
    for (const digest of attachedIn(commit)) since.add(digest);
  let erased = 0;
  for (const stored of await attachments.of(key)) {
    const { digest } = stored;
    if (since.has(digest) || !(before.has(digest) || stored.at <= at)) continue;
    if (await attachments.remove(stored)) erased += 1;
  }
  return erased;
};

const orUnreadable = (error: unknown): null => {
  if (isUnreadable(error)) return null;
  throw error;
};
