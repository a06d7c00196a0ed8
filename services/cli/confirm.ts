import { createInterface } from 'node:readline/promises';
import { NatterError } from '../../shared/kit/errors.ts';
import type { World } from './terminal.ts';

/** Asks a person, who has to type `word`. Throws `NatterError('invalid')` where nobody can answer; `option` is what to use there. */
export const isConfirmed = async (
  { terminal, input, output }: World,
  question: string,
  word: string,
  option = '--yes',
): Promise<boolean> => {
  if (!terminal.interactive)
    throw new NatterError('invalid', `nobody is here to be asked; add ${option} to ${word} without a question`);
  const prompt = createInterface({ input, output });
  try {
    return (await prompt.question(`${question} Type "${word}" to go on: `)).trim() === word;
  } finally {
    prompt.close();
  }
};
