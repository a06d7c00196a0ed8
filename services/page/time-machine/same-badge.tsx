import { useEffect, useState } from 'preact/hooks';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { changesBetween, plainPath } from './differences.ts';

/** How long a place must stay chosen before the gateway is asked: it folds a few pasts at a time, for everybody. */
const settleMs = 400;

const compared =
  'This page worked out the state after this commit from the log, with the same code as the runtime. The gateway did so by itself: both must come to the same.';

type Verdict = { readonly kind: 'asking' | 'same' | 'differs' | 'unknown'; readonly text: string };

const compare = async (key: string, seq: number, here: ShownState, signal: AbortSignal): Promise<Verdict> => {
  try {
    const { key: _, from: __, ...there } = await client.sessions.state(key, { at: seq, signal });
    const [first, ...others] = changesBetween(there, here);
    if (first === undefined) return { kind: 'same', text: 'This page and the gateway agree on this commit' };
    return {
      kind: 'differs',
      text: `The gateway has another state after this commit: ${plainPath(first.path)}${others.length > 0 ? ` and ${others.length} more` : ''}`,
    };
  } catch (error) {
    return { kind: 'unknown', text: `Not checked: ${problemOf(error)}` };
  }
};

/** Whether the state that was folded here is the one that the gateway folds for the same moment. */
export const SameBadge = ({
  sessionKey,
  seq,
  state,
}: {
  readonly sessionKey: string;
  readonly seq: number;
  readonly state: ShownState;
}) => {
  const [verdict, setVerdict] = useState<Verdict>({ kind: 'asking', text: 'Checking with the gateway…' });
  useEffect(() => {
    const controller = new AbortController();
    setVerdict({ kind: 'asking', text: 'Checking with the gateway…' });
    if (seq === 0) return () => controller.abort();
    const timer = setTimeout(() => {
      void compare(sessionKey, seq, state, controller.signal).then((found) => {
        if (!controller.signal.aborted) setVerdict(found);
      });
    }, settleMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [sessionKey, seq]);
  if (seq === 0) return null;
  return (
    <p class={`same same-${verdict.kind}`} role="status" title={compared}>
      {verdict.text}
    </p>
  );
};
