import { NatterError } from '../../shared/kit/errors.ts';
import type { Clock, EventLog } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';

const attempts = 10;

/**
 * The key's commits after a sequence, oldest first and at least up to `through`: a replica that is behind is asked again for the rest.
 * Throws `NatterError('unavailable')` when it does not catch up.
 */
export async function* readThrough(
  { events, clock }: { readonly events: EventLog; readonly clock: Clock },
  key: SessionKey,
  { after, through }: { readonly after: number; readonly through: number },
): AsyncGenerator<RecordedCommit, void, undefined> {
  let position = after;
  for (let attempt = 1; ; attempt++) {
    for await (const commit of events.read(key, { after: position })) {
      position = commit.seq;
      yield commit;
    }
    if (position >= through) return;
    if (attempt === attempts) {
      throw new NatterError('unavailable', `the log of ${key} can be read up to ${position}; ${through} is recorded`);
    }
    await clock.sleep(Math.min(500, 2 ** attempt));
  }
}
