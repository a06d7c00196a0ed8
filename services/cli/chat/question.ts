import pc from 'picocolors';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { oneLine, questionCharacters } from '../../../shared/kit/one-line.ts';
import { printable } from '../../../shared/kit/scrub.ts';
import { wrapToWidth } from '../text/text-width.ts';

type Asked = Pick<EventOf<'approval_requested'>, 'action' | 'approvalId' | 'asks' | 'onceOnly' | 'tool'>;

/** An approval that the person at the terminal may answer in place (A5/62). */
export interface Question {
  readonly approvalId: string;
  readonly mayAlways: boolean;
  /** What would run, with the arguments as the model wrote them, and how to answer: in lines of at most `width` columns. */
  lines(width: number): string[];
  /** What became of the call if its turn ends without an answer. */
  readonly unanswered: string;
}

/** The question of an approval. `args`: the arguments of the call, as JSON, where they are known. */
export const questionIn = (asked: Asked, args?: string): Question => {
  const { approvalId, asks, onceOnly, tool } = asked;
  const mayAlways = onceOnly !== true && asks !== 'retry';
  return {
    ...{ approvalId, mayAlways },
    lines: (width) => questionLines(asked, { mayAlways, width, args }),
    unanswered: `${tool ?? 'The call'} was not run${asks === 'retry' ? ' again' : ''}.`,
  };
};

/** Whether the summary has all of the arguments: they are none, or one value that it quotes. */
const hasAll = (action: string, args: string): boolean => {
  if (args === '{}' || action.includes(args)) return true;
  try {
    const [value, ...others] = Object.values(JSON.parse(args) as object);
    return typeof value === 'object' && others.length === 0 && action.includes(JSON.stringify(value));
  } catch {
    // What is no JSON is shown as it is.
    return false;
  }
};

const questionLines = (
  { action, approvalId, asks, tool }: Asked,
  { mayAlways, width, args }: { readonly mayAlways: boolean; readonly width: number; readonly args: string | undefined },
): string[] => {
  const isShown = args === undefined || hasAll(action, args);
  const text = (line: string): string[] => wrapToWidth(printable(line), width);
  return [
    ...text(`Approval needed: ${action}`).map(pc.yellow),
    ...(isShown ? [] : text(`  ${tool ?? 'arguments'} ${oneLine(args, questionCharacters)}`)),
    ...(asks === 'retry' ? text('It was begun and cut off, and may have taken effect; approve it to do it once more.') : []),
    ...text(`y = yes, once${mayAlways ? '; a = always' : ''}; n = no (a reason may follow). Then Enter. ID: ${approvalId}`).map(
      pc.dim,
    ),
  ];
};

/** The chat command for a line that answers, or `null`: the line is something else. */
export const answerIn = (line: string, { approvalId, mayAlways }: Pick<Question, 'approvalId' | 'mayAlways'>): string | null => {
  const [word = '', ...rest] = line.trim().split(/\s+/u);
  const answer = word.toLowerCase();
  const isAlone = rest.length === 0;
  if ((answer === 'y' || answer === 'yes') && isAlone) return `/approve ${approvalId}`;
  if ((answer === 'a' || answer === 'always') && isAlone && mayAlways) return `/approve ${approvalId} always`;
  return answer === 'n' || answer === 'no' ? `/deny ${[approvalId, ...rest].join(' ')}` : null;
};
