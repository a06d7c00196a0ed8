import { useRef, useState } from 'preact/hooks';
import { mayBeCommand, whyNotSent } from './refused-line.ts';

/** Sends a line, unless it is a misspelt command: `refused` says why, until the line is another one. `current`: the line as it is by then. */
export const useCheckedLine = (line: string, current: () => string | null, post: () => void) => {
  const [refused, setRefused] = useState<{ readonly line: string; readonly why: string } | null>(null);
  const isChecking = useRef(false);
  const check = async (): Promise<void> => {
    isChecking.current = true;
    const why = await whyNotSent(line);
    isChecking.current = false;
    // Whoever has written on meanwhile sends that.
    if (current() !== line) return;
    if (why === null) post();
    else setRefused({ line, why });
  };
  const send = (): void => {
    if (isChecking.current) return;
    if (mayBeCommand(line)) void check();
    else post();
  };
  return { send, refused: refused?.line === line ? refused.why : null };
};
