import { useEffect, useState } from 'preact/hooks';
import { problemOf } from '../base/signed-in.ts';
import { announce } from './announce.tsx';

/** Something that is done once at a time: a call that changes something. `outcome`: how the last one ended. */
export interface Act {
  readonly isBusy: boolean;
  readonly outcome: { readonly text: string; readonly failed: boolean } | null;
  /** `done`: the text to show once it is done. Resolves with whether it was done. Never throws. */
  run(work: () => Promise<unknown>, done: string): Promise<boolean>;
  /** How the last one ended is old news. */
  clear(): void;
}

/** How long a note of success is shown that covers other content, ms. */
export const coveringMs = 8_000;

/** `doneMs`: how long a success is shown, ms. Default: until the next one. */
export const useAct = (doneMs?: number): Act => {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Act['outcome']>(null);
  const run = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
    setBusy(true);
    try {
      await work();
      setOutcome({ text: done, failed: false });
      announce(done);
      return true;
    } catch (error) {
      setOutcome({ text: problemOf(error), failed: true });
      return false;
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (doneMs === undefined || outcome === null || outcome.failed) return;
    const timer = setTimeout(() => setOutcome(null), doneMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  return { isBusy, outcome, run, clear: () => setOutcome(null) };
};

export const ActOutcome = ({ act: { outcome } }: { readonly act: Act }) =>
  outcome === null ? null : (
    <p class={outcome.failed ? 'act-failed' : 'act-done'} role={outcome.failed ? 'alert' : 'status'}>
      {outcome.text}
    </p>
  );
