/**
 * What somebody has seen of the log, and the one rule that tells whether the log still has it (I13). A writer sees what is acknowledged to it,
 * a reader what it has read.
 */
export interface LogWitness {
  /** Changes when the log is created anew; `null` if it was not noted. */
  readonly incarnation: number | null;
  /** The log had reached this sequence. */
  readonly seq: number;
  /** Digest of the commit at `seq`; `null` if it was not noted, or none is there. */
  readonly digest: string | null;
}

/** Nothing seen yet. */
export const nothingSeen: LogWitness = { incarnation: null, seq: 0, digest: null };

/** The log as it is now, seen from a witness. */
export interface LogView {
  readonly incarnation: number;
  readonly lastSeq: number;
  /** Digest of the commit at the witness's sequence; `null` if none is there, for instance because it was erased. */
  readonly digest: string | null;
}

/**
 * How the log has lost what `seen` says; `null` if nothing shows that it has. It has if it ends earlier, was created anew, or has another
 * commit there. No commit there proves nothing: it may have been erased. A log of which nothing was seen has nothing to lose.
 */
export const regression = (seen: LogWitness, now: LogView, log = 'the event log'): string | null => {
  const { incarnation, seq, digest } = seen;
  if (seq === 0) return null;
  if (now.lastSeq < seq) return `${log} ends at ${now.lastSeq}, but had reached ${seq}`;
  if (incarnation !== null && now.incarnation !== incarnation) return `${log} was recreated; it had reached ${seq}`;
  if (digest !== null && now.digest !== null && now.digest !== digest)
    return `${log} was exchanged: ${seq} is another commit than the one that was seen there`;
  return null;
};
