import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { linesOf, type TranscriptLine } from '../../../shared/domain/projections/transcript-line.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { TranscriptNews } from '../../../shared/runtime/transcripts/files.ts';

/** Collects commits that have been read and not yet written into transcripts, starting after the sequence `after`. */
export const createTranscriptBatch = (after: number) => {
  let news = new Map<SessionKey, TranscriptNews & { readonly lines: TranscriptLine[] }>();
  let commits = 0;
  let characters = 0;
  let position = after;

  const newsOf = (key: SessionKey, erased: boolean) => {
    const known = news.get(key);
    if (known && !erased) return known;
    // Lines that an erasure removes are not written first.
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
    /** Takes everything collected, with the sequence it reaches up to. */
    take: (): { news: readonly TranscriptNews[]; position: number } => {
      const taken = { news: [...news.values()], position };
      news = new Map();
      commits = 0;
      characters = 0;
      return taken;
    },
  };
};
