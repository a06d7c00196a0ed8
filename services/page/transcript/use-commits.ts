import { useEffect, useState } from 'preact/hooks';
import type { LogEntry } from '../../../shared/client/main.ts';
import { readAndFollow } from '../past/follow.ts';
import type { PastSource } from '../past/past.ts';

const pageCommits = 2_000;

interface Commits {
  readonly commits: readonly LogEntry[];
  /** Those that there were at first are all read. Others come as they are recorded. */
  readonly isRead: boolean;
  readonly problem: string | null;
}

/** The commits of a session, as they are read and recorded. */
export const useCommits = (source: PastSource): Commits => {
  const [known, know] = useState<Commits>({ commits: [], isRead: false, problem: null });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const found: LogEntry[] = [];
    const show = (): void => know((before) => ({ ...before, commits: [...found] }));
    const read = async (after: number): Promise<number> => {
      for await (const commit of source.commits(after, signal)) {
        found.push(commit);
        if (found.length % pageCommits === 0) show();
      }
      show();
      return found.at(-1)?.seq ?? after;
    };
    const isRead = (): void => know((before) => ({ ...before, isRead: true }));
    readAndFollow(source, signal, { read, isRead }).catch((error: unknown) => {
      if (!signal.aborted) know((before) => ({ ...before, problem: source.problemOf(error) }));
    });
    return () => controller.abort();
  }, [source]);
  return known;
};
