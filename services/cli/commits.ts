import type { NatterClient } from '../../shared/client/main.ts';
import { type RecordedCommit, recordedCommitShape } from '../../shared/domain/session/envelope.ts';
import { upcast } from '../../shared/domain/session/upcast.ts';
import { check } from '../../shared/wire/codec.ts';

/** Parses a commit as the gateway sends it. Throws `NatterError('invalid')` if this version cannot read it. */
const commitFromJson = (value: unknown): RecordedCommit => {
  const shape = check(recordedCommitShape, value);
  return { ...shape, events: shape.events.map(upcast) };
};

/** A session's commits with `seq > after`, oldest first, page by page up to the last one there is now. */
export async function* commitsOf(client: NatterClient, key: string, after = 0): AsyncGenerator<RecordedCommit> {
  for await (const commit of client.sessions.export(key, { after, patienceMs: 10_000 })) yield commitFromJson(commit);
}
