import type { Ports } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import { findRun } from '../../shared/session-tools/run.ts';

/** Where the log begins to tell of a run: it is read after that sequence. `text`: its message's, where there is one. */
export interface Beginning {
  readonly after: number;
  readonly text?: string | undefined;
}

/** Looks for a run after the sequence `seen`; `null` where there is none. As far back as `findRun` does. */
export const beginningOf = async (ports: Ports, key: SessionKey, runId: string, seen: number): Promise<Beginning | null> => {
  const found: Beginning[] = [];
  await findRun(ports, key, runId, seen, ({ seq, events }, { run }) => {
    const asks = events.find((event) => event.type === 'user_message' && event.turnId === runId);
    const text = asks?.type === 'user_message' ? asks.message.text : undefined;
    if (found.length === 0 && (run !== null || asks !== undefined)) found.push({ after: seq - 1, text });
  });
  return found[0] ?? null;
};

/** The run in which a person was asked, and what they said, if they have. */
export interface AskedRun extends Beginning {
  readonly runId: string;
  readonly verdict?: 'granted' | 'denied' | 'expired';
}

/** Looks for the run that an approval is of. */
export const askedRunOf = async (ports: Ports, key: SessionKey, approvalId: string, seen: number): Promise<AskedRun | null> => {
  const beginnings = new Map<string, number>();
  let asked: AskedRun | null = null;
  // No run has this id: all that it may look at is read.
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
