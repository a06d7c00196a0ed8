import { signal } from '@preact/signals';
import { NatterApiError, type Verdict } from '../../../shared/client/main.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { announce } from '../parts/announce.tsx';

/** What became of the answers given here, by the id of the approval. */
export interface Given {
  readonly state: 'sending' | 'sent' | 'problem';
  readonly text: string;
}
export const given = signal<Readonly<Record<string, Given>>>({});

const verdictWords: Readonly<Record<Verdict, string>> = {
  'allow-once': 'Allowed once',
  'allow-always': 'Allowed from now on',
  deny: 'Denied',
};

const set = (id: string, state: Given['state'], text: string): void => {
  given.value = { ...given.value, [id]: { state, text } };
};

/**
 * Answers exactly this approval, in this session. One that was answered meanwhile, or is too old, says so and stays as it was answered.
 * `reason`: what the agent is told besides.
 */
export const answer = async (approvalId: string, sessionKey: string, verdict: Verdict, reason?: string): Promise<void> => {
  if (given.value[approvalId]?.state === 'sending') return;
  set(approvalId, 'sending', 'Sending…');
  try {
    await client.approvals.resolve(approvalId, verdict, { sessionKey, reason, idempotencyKey: `${approvalId}-${verdict}` });
    const text = `${verdictWords[verdict]} by you${reason === undefined ? '' : `: “${reason}”`}`;
    set(approvalId, 'sent', text);
    announce(text);
  } catch (error) {
    const isOver =
      error instanceof NatterApiError && ['approval_resolved', 'approval_expired', 'approval_unknown'].includes(error.code);
    set(approvalId, isOver ? 'sent' : 'problem', problemOf(error));
  }
};
