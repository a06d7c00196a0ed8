import { attachedIn } from '../../domain/session/attached.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { NatterError } from '../../kit/errors.ts';
import { waitForReplica } from '../../kit/wait-for-replica.ts';
import type { Ports } from '../../ports/index.ts';

type Needed = Pick<Ports, 'events' | 'attachments' | 'clock'>;

/**
 * Removes what came with the messages before an erasure, and what was stored for messages that the session never got. What was said again since
 * then, or is stored for a message on its way, stays. Resolves with how many contents it removed.
 */
export const eraseAttachments = async (ports: Needed, erasure: RecordedCommit, before: ReadonlySet<string>): Promise<number> => {
  const { attachments } = ports;
  const since = await attachedSince(ports, erasure);
  let erased = 0;
  for (const stored of await attachments.of(erasure.key)) {
    const { digest } = stored;
    if (since.has(digest) || !(before.has(digest) || stored.at <= erasure.at)) continue;
    if (await attachments.remove(stored)) erased += 1;
  }
  return erased;
};

/** The digests in the commits after the erasure, up to the last that the leader has. */
const attachedSince = async ({ events, clock }: Needed, { key, seq }: RecordedCommit): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  const through = (await events.last(key))?.seq ?? seq;
  for (let [position, attempt] = [seq, 1]; position < through; attempt++) {
    for await (const commit of events.read(key, { after: position })) {
      for (const digest of attachedIn(commit)) found.add(digest);
      position = commit.seq;
    }
    if (position < through && !(await waitForReplica(clock, attempt)))
      throw new NatterError('unavailable', `the history of ${key} cannot be read up to ${through} yet; erase it again`);
  }
  return found;
};
