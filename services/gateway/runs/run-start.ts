import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { findRun } from '../../../shared/runtime/session-tools/find-run.ts';

/** Where the log of a run starts: read after that sequence. `text`: that of its message, if it has one. */
export interface Beginning {
  readonly after: number;
  readonly text?: string | undefined;
}

/** Looks for a run after the sequence `seen`, as far back as `findRun` does, and further if that is not its start; `null` if there is none. */
export const beginningOf = async (ports: Ports, key: SessionKey, runId: string, seen: number): Promise<Beginning | null> => {
  const found: { readonly beginning: Beginning; readonly isWhole: boolean }[] = [];
  await findRun(ports, key, runId, seen, (commit, { run }) => {
    const asks = messageOf(commit, runId);
    if (found.length > 0 || (run === null && asks === null)) return;
    const isWhole = asks !== null || commit.command.id === runId;
    found.push({ beginning: asks ?? { after: commit.seq - 1 }, isWhole });
  });
  const [first] = found;
  if (first === undefined) return null;
  const { beginning, isWhole } = first;
  return isWhole ? beginning : ((await messageBefore(ports, key, runId, seen, beginning)) ?? beginning);
};

const messageOf = ({ seq, events }: RecordedCommit, runId: string): Beginning | null => {
  const asks = events.find((event) => event.type === 'user_message' && event.turnId === runId);
  return asks?.type === 'user_message' ? { after: seq - 1, text: asks.message.text } : null;
};

/** Looks further and further back for the message of a known run: many others may have come since (A5/69). */
export const messageBefore = async (
  { events }: Pick<Ports, 'events'>,
  key: SessionKey,
  runId: string,
  oldest: number,
  { after: upTo }: Beginning,
): Promise<Beginning | null> => {
  const readAfter = async (after: number): Promise<Beginning | null> => {
    for await (const commit of events.read(key, { after, upTo })) {
      const asks = messageOf(commit, runId);
      if (asks !== null) return asks;
    }
    return null;
  };
  for (let back = firstLook; ; back *= 4) {
    const after = Math.max(oldest, upTo - back);
    const found = await orQuarantined(readAfter(after));
    if (found !== null || after === oldest) return found;
  }
};
/** Sequences of the whole log. */
const firstLook = 1_024;

/** The run that requested an approval, and the decision, if there is one. */
export interface AskedRun extends Beginning {
  readonly runId: string;
  readonly verdict?: 'granted' | 'denied' | 'expired';
}

/** Looks for the run that an approval belongs to. */
export const askedRunOf = async (ports: Ports, key: SessionKey, approvalId: string, seen: number): Promise<AskedRun | null> => {
  const beginnings = new Map<string, number>();
  let asked: AskedRun | null = null;
  // No run has this id, so the whole searchable range is read.
  await findRun(ports, key, '', seen, ({ seq, events }) => {
    for (const event of events) {
      if (event.type === 'user_message' && event.turnId !== undefined) beginnings.set(event.turnId, seq - 1);
      if (!('approvalId' in event) || event.approvalId !== approvalId) continue;
      if (event.type === 'approval_requested') asked = { runId: event.turn.id, after: beginnings.get(event.turn.id) ?? seq - 1 };
      else if (event.type === 'approval_resolved' && asked !== null) asked = { ...asked, verdict: event.verdict };
    }
  });
  return asked;
};
