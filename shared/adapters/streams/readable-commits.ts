import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { waitForReplica } from '../../kit/wait-for-replica.ts';
import type { Ports } from '../../ports/index.ts';

/**
 * The key's commits that can be read, oldest first and at least up to `through`, which is one of them: a lagging replica is asked again. What
 * cannot be read must not keep the rest from being erased. Throws `unavailable` when the replica does not catch up.
 */
export async function* readableCommits(
  { events, clock }: Pick<Ports, 'events' | 'clock'>,
  key: SessionKey,
  { after, through }: { readonly after: number; readonly through: number },
): AsyncGenerator<RecordedCommit, void, undefined> {
  let position = after;
  for (let empty = 0; ; ) {
    const { commits, more } = await events.page({ after: position, limit: limits.readCommits, key });
    for (const commit of commits) {
      position = commit.seq;
      yield commit;
    }
    if (!more && position >= through) return;
    empty = commits.length === 0 ? empty + 1 : 0;
    if (empty > 0 && !(await waitForReplica(clock, empty)))
      throw new NatterError('unavailable', `the history of ${key} cannot be read up to ${through} yet; erase it again`);
  }
}
