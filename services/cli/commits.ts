import type { NatterClient } from '../../shared/client/main.ts';
import { gapText, type HistoryGap } from '../../shared/domain/session/chain.ts';
import { ChainWatch } from '../../shared/domain/session/chain-watch.ts';
import { type RecordedCommit, recordedCommitShape } from '../../shared/domain/session/envelope.ts';
import { upcast } from '../../shared/domain/session/upcast.ts';
import { check } from '../../shared/wire/codec.ts';
import type { World } from './terminal.ts';

/** Parses a commit as the gateway sends it. Throws `NatterError('invalid')` if this version cannot read it. */
const commitFromJson = (value: unknown): RecordedCommit => {
  const shape = check(recordedCommitShape, value);
  return { ...shape, events: shape.events.map(upcast) };
};

/**
 * A session's commits with `seq > after`, oldest first, page by page up to the last one there is now. `lost` is called in front of a commit before
 * which others are lost.
 */
export async function* commitsOf(
  client: NatterClient,
  key: string,
  { after = 0, lost = () => {} }: { after?: number; lost?: (gap: HistoryGap) => void } = {},
): AsyncGenerator<RecordedCommit> {
  const chain = new ChainWatch(1);
  for await (const read of client.sessions.export(key, { after, patienceMs: 10_000 })) {
    const commit = commitFromJson(read);
    // By the commit's own key: the session may be named in a short form.
    if (after === 0 && chain.lastOf(commit.key) === undefined) chain.begin(commit.key);
    const gap = chain.take(commit);
    if (gap !== null) lost(gap);
    yield commit;
  }
}

/** Says what is lost, and makes the command fail at its end. */
export const noteLost =
  ({ terminal }: World, key: string) =>
  (gap: HistoryGap): void => {
    terminal.note(`${key}: ${gapText(gap)}, after sequence ${gap.afterSeq}; see "natter repair ${key}"`);
    process.exitCode = 1;
  };
