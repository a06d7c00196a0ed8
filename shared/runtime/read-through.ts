import type { SessionKey } from '../domain/keys/session-key.ts';
import type { RecordedCommit } from '../domain/session/envelope.ts';
import type { Clock } from '../kit/clock.ts';
import { NatterError } from '../kit/errors.ts';
import { waitForReplica } from '../kit/wait-for-replica.ts';
import type { EventLog } from '../ports/event-log.ts';

/**
 * The key's commits after a sequence, oldest first and at least up to `through`: a lagging replica is asked again for the rest. When `through`
 * itself is lost, a later commit shows that nothing before it is still to come. With a `through` that is not after `after` all that there is is
 * read. Throws `unavailable` when the replica does not catch up.
 */
export async function* readThrough(
  { events, clock }: { readonly events: EventLog; readonly clock: Clock },
  key: SessionKey,
  { after, through }: { readonly after: number; readonly through: number },
): AsyncGenerator<RecordedCommit, void, undefined> {
  let position = after;
  for (let attempt = 1; ; attempt++) {
    const isKnown = attempt === 1 && through > position;
    for await (const commit of events.read(key, { after: position, ...(isKnown && { upTo: through }) })) {
      position = commit.seq;
      yield commit;
    }
    if (position >= through) return;
    if (!(await waitForReplica(clock, attempt))) {
      throw new NatterError(
        'unavailable',
        `the log of ${key} can be read only up to ${position}, although ${through} is recorded; try again`,
      );
    }
  }
}
