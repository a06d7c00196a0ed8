import type { Readable, Writable } from 'node:stream';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { World } from '../terminal.ts';
import { wrapToWidth } from '../text/text-width.ts';

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}
/** What `natter init` asks a person. Each throws `NatterError('invalid')` if the person gives up. */
export interface Questions {
  choose<T>(message: string, choices: readonly Choice<T>[]): Promise<T>;
  /** What is typed is not shown. Empty text is an answer only if it is optional. */
  secret(message: string, isOptional?: boolean): Promise<string>;
  /** `typed` stands there to be changed. */
  text(message: string, placeholder: string, typed?: string): Promise<string>;
}

const mostShown = 14;
const usualColumns = 80;
/** What the frame takes of each line, on its left. */
const frameColumns = 4;

/** The questions on a terminal, whose text goes into their frame from the first answer on, until `terminal.divert(null)`. */
export const terminalQuestions = async ({ input, output, terminal }: World): Promise<Questions> => {
  const prompts = await import('@clack/prompts');
  const streams = { input: input as Readable, output: output as Writable };
  /** What the program says between two questions stands in their frame. */
  const inFrame = (text: string): void => {
    const columns = (output as NodeJS.WriteStream).columns ?? usualColumns;
    prompts.log.message(wrapToWidth(text, columns - frameColumns, { staysWhole: true }), { output: streams.output });
  };
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    terminal.divert(typeof answer === 'symbol' ? null : inFrame);
    if (typeof answer === 'symbol') throw new NatterError('invalid', 'nothing was set up; run "natter init" again when you like');
    return answer as Exclude<T, symbol>;
  };
  const needed = (value: string | undefined): string | undefined =>
    value?.trim() ? undefined : 'type something, or Ctrl-C to give up';
  return {
    choose: async <T>(message: string, choices: readonly Choice<T>[]): Promise<T> => {
      // By their numbers: what is chosen may be anything. With their hints, which clack shows of the highlighted one alone.
      const options = choices.map(({ label, hint }, value) => ({
        value,
        label: hint === undefined ? label : `${label} (${hint})`,
      }));
      const index = answered(await prompts.select<number>({ ...streams, message, options, maxItems: mostShown }));
      return (choices[index] as Choice<T>).value;
    },
    secret: async (message, isOptional = false) => {
      const typed = await prompts.password({ ...streams, message, ...(!isOptional && { validate: needed }) });
      // Where nothing was typed, there is no text.
      return (answered(typed) ?? '').trim();
    },
    text: async (message, placeholder, typed = '') =>
      answered(await prompts.text({ ...streams, message, placeholder, initialValue: typed, validate: needed })).trim(),
  };
};
