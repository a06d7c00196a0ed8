import { z } from 'zod';
import { upcast } from '../../shared/session/upcast.ts';
import { check } from '../../shared/wire/codec.ts';
import { commitShape, type RecordedCommit } from '../../shared/wire/envelope.ts';
import { type ApiClient, sessionPath } from './api-client.ts';

const recorded = commitShape.extend({ seq: z.int().min(1), recordedAt: z.number() });
const pageCommits = 500;

/** Reads a commit as the gateway sends it. Throws `NatterError('invalid')` on anything this version cannot read. */
const commitFromJson = (value: unknown): RecordedCommit => {
  const shape = check(recorded, value);
  return { ...shape, events: shape.events.map(upcast) };
};

/** A session's commits with `seq > after`, oldest first, page by page to the end there is now. */
export async function* commitsOf(client: ApiClient, key: string, after = 0): AsyncGenerator<RecordedCommit> {
  for (let position: number | string = after; ; ) {
    const query = { after: position, limit: pageCommits };
    const page: { commits: unknown[]; next: number | string; more: boolean } = await client.get(sessionPath(key, '/commits'), {
      query,
      patienceMs: 10_000,
    });
    for (const commit of page.commits) yield commitFromJson(commit);
    if (!page.more || page.next === position) return;
    position = page.next;
  }
}
