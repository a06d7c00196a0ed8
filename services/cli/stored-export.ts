import { z } from 'zod';
import type { NatterClient } from '../../shared/client/main.ts';
import { breakText, type ChainLink, chainBreak, chainStart, endProblem, linkAfter } from '../../shared/domain/session/chain.ts';
import { errorMessage } from '../../shared/kit/errors.ts';
import { linkOf, type StoredLink } from '../../shared/wire/commit-link.ts';

/** The export of stored commits, as JSON Lines that anyone can verify: `docs/integrate/exports.md`. */

const begin = z.object({ begin: z.string(), format: z.literal('natter-stored-commits'), v: z.literal(1), at: z.string() });
const commit = z.object({ seq: z.int().min(1), recordedAt: z.number(), bytes: z.base64() });
const end = z.object({ end: z.string(), commits: z.int().min(0), rev: z.int().min(0), digest: z.string().nullable() });
const line = z.union([begin, commit, end]);

/** The lines of one session. Rejects as the gateway answers, and with `NatterError('invalid')` for a message that is no commit. */
export async function* exportLines(client: NatterClient, key: string, at: string): AsyncGenerator<z.infer<typeof line>> {
  yield { begin: key, format: 'natter-stored-commits', v: 1, at };
  let [commits, last] = [0, chainStart];
  for await (const stored of client.sessions.exportStored(key, { patienceMs: 10_000 })) {
    yield stored;
    commits += 1;
    last = linkAfter(last, linkOf({ ...stored, key, bytes: Buffer.from(stored.bytes, 'base64') }));
  }
  yield { end: key, commits, rev: last.rev, digest: last.digest };
}

/** One session of a verified file. `problem`: what is missing or changed, or `null`. */
export interface Verified {
  readonly key: string;
  readonly commits: number;
  readonly rev: number;
  readonly problem: string | null;
}

interface Session {
  readonly key: string;
  readonly commits: number;
  readonly last: ChainLink;
  readonly problem: string | null;
}

/** Checks the lines of an export: each commit against its bytes and the one before it, and the end of each session. */
export async function* verifyLines(lines: AsyncIterable<string>): AsyncGenerator<Verified> {
  let session: Session | null = null as Session | null;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    const read = lineOf(text);
    if (read !== null && 'begin' in read) {
      if (session !== null) yield verdict(session, 'its end is missing: the file was cut');
      session = { key: read.begin, commits: 0, last: chainStart, problem: null };
    } else if (session === null) {
      yield { key: '', commits: 0, rev: 0, problem: `line ${number}: it belongs to no session` };
    } else if (read === null) {
      session = { ...session, problem: session.problem ?? `line ${number}: it is not a line of an export` };
    } else if ('end' in read) {
      yield verdict(session, endProblem({ ...session.last, ...session }, { ...read, key: read.end }));
      session = null;
    } else session = follow(session, read, number);
  }
  if (session !== null) yield verdict(session, 'its end is missing: the file was cut');
}

const verdict = ({ key, commits, last, problem }: Session, atEnd: string | null): Verified => ({
  ...{ key, commits, rev: last.rev },
  problem: problem ?? atEnd,
});

const lineOf = (text: string): z.infer<typeof line> | null => {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return null;
  }
};

const follow = (session: Session, stored: z.infer<typeof commit>, number: number): Session => {
  const { key, commits, last } = session;
  let link: StoredLink;
  try {
    link = linkOf({ ...stored, key, bytes: Buffer.from(stored.bytes, 'base64') });
  } catch (error) {
    return { ...session, commits: commits + 1, problem: session.problem ?? `line ${number}: ${errorMessage(error)}` };
  }
  const broken = chainBreak(last, link);
  const problem = broken === null ? null : `line ${number}: ${breakText[broken](last.rev, link.rev)}`;
  return { key, commits: commits + 1, last: linkAfter(last, link), problem: session.problem ?? problem };
};
