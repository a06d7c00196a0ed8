import { emitKeypressEvents } from 'node:readline';
import type { Key } from './line-editor.ts';

/** A terminal's input. */
export interface KeyboardInput extends NodeJS.ReadableStream {
  setRawMode?(mode: boolean): unknown;
}

/** The terminal says where a paste begins and ends. */
const bracketedPaste = { on: '\u001b[?2004h', off: '\u001b[?2004l' } as const;

interface NodeKey {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/**
 * Reads keys until it is closed; then the terminal is as before. `onEnd`: the terminal is gone. `write` is for the sequences that switch the
 * terminal over.
 */
export const openKeyboard = (
  input: KeyboardInput,
  write: (sequence: string) => void,
  { onKey, onEnd }: { readonly onKey: (key: Key) => void; readonly onEnd: () => void },
): { close(): void } => {
  const pressed = (text: string | undefined, { name, ctrl, meta }: NodeKey): void => onKey({ text, name, ctrl, meta });
  emitKeypressEvents(input);
  input.setRawMode?.(true);
  input.on('keypress', pressed);
  input.on('end', onEnd);
  input.resume();
  write(bracketedPaste.on);
  return {
    close: () => {
      write(bracketedPaste.off);
      input.off('keypress', pressed);
      input.off('end', onEnd);
      input.setRawMode?.(false);
      input.pause();
    },
  };
};
