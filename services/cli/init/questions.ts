import type { Readable, Writable } from 'node:stream';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { World } from '../terminal.ts';

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}
/** What `natter init` asks a person. Each throws `NatterError('invalid')` if the person gives up. */
export interface Questions {
  choose<T>(message: string, choices: readonly Choice<T>[]): Promise<T>;
  /** What is typed is not shown. */
  secret(message: string): Promise<string>;
  text(message: string, placeholder: string): Promise<string>;
}

const mostShown = 12;

/** The questions on a terminal. */
export const terminalQuestions = async ({ input, output }: World): Promise<Questions> => {
  const prompts = await import('@clack/prompts');
  const streams = { input: input as Readable, output: output as Writable };
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (typeof answer === 'symbol') throw new NatterError('invalid', 'nothing was set up; run "natter init" again when you like');
    return answer as Exclude<T, symbol>;
  };
  const needed = (value: string | undefined): string | undefined =>
    value?.trim() ? undefined : 'type something, or Ctrl-C to give up';
  return {
    choose: async <T>(message: string, choices: readonly Choice<T>[]): Promise<T> => {
      // By their numbers: what is chosen may be anything.
      const options = choices.map(({ label, hint }, value) => ({ value, label, ...(hint !== undefined && { hint }) }));
      const index = answered(await prompts.select<number>({ ...streams, message, options, maxItems: mostShown }));
      return (choices[index] as Choice<T>).value;
    },
    secret: async (message) => answered(await prompts.password({ ...streams, message, validate: needed })).trim(),
    text: async (message, placeholder) =>
      answered(await prompts.text({ ...streams, message, placeholder, validate: needed })).trim(),
  };
};
