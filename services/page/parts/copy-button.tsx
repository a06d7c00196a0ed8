import { useState } from 'preact/hooks';
import { announce } from './announce.tsx';

const shownMs = 2_000;

/** Puts a text on the clipboard. Without the right to it, or on a page without TLS, it says so. */
export const CopyButton = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [state, setState] = useState<'' | 'Copied' | 'Select it to copy it'>('');
  const say = (words: typeof state): void => {
    setState(words);
    announce(words);
  };
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      say('Select it to copy it');
    }
    setTimeout(() => setState(''), shownMs);
  };
  return (
    <button
      type="button"
      class="button button-quiet"
      aria-label={state === '' ? `Copy ${what}` : undefined}
      onClick={() => void copy()}
    >
      {state === '' ? 'Copy' : state}
    </button>
  );
};
