import { createInterface } from 'node:readline/promises';
import { NatterError } from '../../shared/kit/errors.ts';
import type { World } from './terminal.ts';

/** Asks the user to type `word`. Throws `NatterError('invalid')` where there is no terminal; `option` is what to use instead. */
export const isConfirmed = async (
  { terminal, input, output }: World,
  question: string,
  word: string,
  option = '--yes',
): Promise<boolean> => {
  if (!terminal.interactive)
    throw new NatterError('invalid', `no terminal to confirm on; use ${option} to ${word} without confirmation`);
  const prompt = createInterface({ input, output });
  try {
    return (await prompt.question(`${question} Type "${word}" to continue: `)).trim() === word;
  } finally {
    prompt.close();
  }
};
