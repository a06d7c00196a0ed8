import pc from 'picocolors';
import { printable } from '../../../shared/kit/scrub.ts';

/** What stands in front of the line that is typed. */
export const labels = { you: pc.bold('you> '), asked: pc.yellow('allow? ') } as const;

/** What was typed, as it stood behind the prompt. */
export const typedLines = (text: string, label: string = labels.you): string[] =>
  printable(text)
    .split('\n')
    .map((line, index) => `${index === 0 ? label : '     '}${line}`);
