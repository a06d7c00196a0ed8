import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../shared/domain/projections/index-row.ts';
import { summarize } from '../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import { toPlain } from '../../shared/domain/session/fold/evolve.ts';
import { HistoryFold } from '../../shared/domain/session/fold/history-fold.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Ports } from '../../shared/ports/index.ts';

/** What the page is measured with: as much as people may have. */

const opened: SessionEvent = {
  ...{ type: 'session_opened', v: 1, sessionId: 's', generation: 1 },
  source: { kind: 'api', interactive: false },
};
export const turnIdOf = (number: number): string => `turn-${number}`;
const questionOf = (number: number): SessionEvent[] => {
  const messageId = `message-${number}`;
  const message = { messageId, text: textOf(number), sender: { id: 'bench' } };
  return [
    { type: 'user_message', v: 1, message, turnId: turnIdOf(number) },
    { type: 'turn_started', v: 1, turn: { id: turnIdOf(number), messageId }, attempt: 1 },
  ];
};
const answerOf = (number: number): SessionEvent[] => {
  const turn = { id: turnIdOf(number), attempt: 1 };
  const text = `${textOf(number)}\n\n- with \`mount\`\n- or by a click`;
  return [
    { type: 'assistant_message', v: 1, turn, messageId: turn.id, text },
    { type: 'turn_completed', v: 1, turn },
  ];
};
const textOf = (number: number): string => `message ${number}: how do I mount a **windows** partition?`;

const commitOf = (key: SessionKey, rev: number, at: number, events: readonly SessionEvent[]) => ({
  ...{ v: 1 as const, id: `${key}-${rev}`, key, rev, sessionId: 's', epoch: 0, at, correlationId: 'bench', causationId: 'bench' },
  ...{ actor: 'bench', command: { id: `c${rev}`, seq: null, incarnation: null }, events: [...events] },
});

const recorded = (commit: ReturnType<typeof commitOf>, seq: number): RecordedCommit => ({
  ...{ ...commit, seq, recordedAt: commit.at, digest: '' },
});

/** Records a session of so many commits, of which each turn has two, and puts its row into the index. If the last turn has no answer, it is running. */
export const recordSession = async (ports: Ports, key: SessionKey, commits: number): Promise<void> => {
  const since = Date.now() - commits * 1_000;
  let row: IndexRow | null = null;
  for (let rev = 1; rev <= commits; rev++) {
    const number = Math.floor(rev / 2);
    const events = rev === 1 ? [opened] : rev % 2 === 0 ? questionOf(number) : answerOf(number);
    const commit = commitOf(key, rev, since + rev * 1_000, events);
    const result = await ports.events.append(commit, row?.seq ?? 0);
    if (result.kind !== 'stored') throw new Error(`commit ${rev} of ${key} was not stored: ${JSON.stringify(result)}`);
    row = summarize(row, recorded(commit, result.seq));
  }
  if (row !== null) await ports.index.put([row], row.seq);
  await snapshot(ports, key, commits - (commits % limits.snapshotCommits));
};

/** Keeps the state after so many commits, as the session's host does every few. */
const snapshot = async (ports: Ports, key: SessionKey, commits: number): Promise<void> => {
  const fold = new HistoryFold();
  for await (const commit of ports.events.read(key)) {
    if (commit.rev > commits) break;
    fold.take(commit);
  }
  if (commits > 0) await ports.snapshots.put(key, toPlain(fold.state));
};

/** Puts the rows of so many other sessions into the index. */
export const putRows = async (ports: Ports, sessions: number): Promise<void> => {
  const since = Date.now() - sessions * 1_000;
  const { lastSeq } = await ports.events.info();
  const rowOf = (number: number): IndexRow => {
    const key = `agent:main:web:${number}` as SessionKey;
    return summarize(null, recorded(commitOf(key, 1, since + number * 1_000, [opened, ...questionOf(number)]), 1));
  };
  const atOnce = 1_000;
  for (let done = 0; done < sessions; done += atOnce)
    await ports.index.put(
      Array.from({ length: atOnce }, (_, index) => rowOf(done + index)),
      lastSeq,
    );
};
