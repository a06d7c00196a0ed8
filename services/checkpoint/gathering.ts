import { limits } from '../../shared/kit/limits.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import { isErasure } from '../../shared/session/evolve.ts';
import type { TranscriptNews } from '../../shared/transcripts/files.ts';
import { linesOf, type TranscriptLine } from '../../shared/transcripts/line.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';

/** What was read of the log and is not written into transcripts yet, from the sequence `after` on. */
export const createGathering = (after: number) => {
  let news = new Map<SessionKey, TranscriptNews & { readonly lines: TranscriptLine[] }>();
  let commits = 0;
  let characters = 0;
  let position = after;

  const newsOf = (key: SessionKey, erased: boolean) => {
    const known = news.get(key);
    if (known && !erased) return known;
    // What an erasure removes is not written first.
    const fresh = { key, erased, lines: [] };
    news.set(key, fresh);
    return fresh;
  };

  return {
    add: (commit: RecordedCommit): void => {
      const erased = isErasure(commit);
      const lines = linesOf(commit);
      if (erased || lines.length > 0) newsOf(commit.key, erased).lines.push(...lines);
      commits += 1;
      characters += lines.reduce((sum, { text }) => sum + text.length, 0);
      position = commit.seq;
    },
    isFull: (): boolean => commits >= limits.mirrorCommits || characters >= limits.mirrorCharacters,
    position: (): number => position,
    /** All of it, which is not gathered here any more, and the sequence up to which it goes. */
    take: (): { news: readonly TranscriptNews[]; position: number } => {
      const taken = { news: [...news.values()], position };
      news = new Map();
      commits = 0;
      characters = 0;
      return taken;
    },
  };
};
