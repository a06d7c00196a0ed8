import { eventWords } from '../parts/event-words.ts';
import { ErrorMark } from '../parts/icon.tsx';
import { plainLine } from '../parts/one-line.ts';
import { eventText, personOf } from '../parts/person.ts';
import type { Said } from '../past/said.ts';
import type { RecordedError } from '../past/timeline.ts';

interface SaidLinesProps {
  readonly lines: readonly Said[];
  /** Shown among the lines, in the order in which they were recorded. Default: none. */
  readonly errors?: readonly RecordedError[];
  /** Characters of a line at most. Default: 240. */
  readonly width?: number | undefined;
  /** Goes to the moment of a line. */
  go(line: Said): void;
  /** Whether the line at this index is marked as differing. */
  differs?(line: Said, at: number): boolean;
}

interface LineProps extends Pick<SaidLinesProps, 'go'> {
  readonly line: Said;
  readonly width: number;
  readonly isDiffering: boolean;
}
const Line = ({ line, width, go, isDiffering }: LineProps) => (
  <li class={isDiffering ? 'branch-differs' : ''}>
    <button type="button" class="branch-line" onClick={() => go(line)}>
      <b>{line.role === 'user' ? personOf(line.sender, line.actor) : 'Agent'}</b> {plainLine(line.text, width)}
      {isDiffering && <span class="unseen"> (differs)</span>}
    </button>
  </li>
);

/** What was said, line by line, and what failed in between; each line leads to its moment. */
export const SaidLines = ({ lines, errors = [], width = 240, go, differs = () => false }: SaidLinesProps) => {
  const shown = [...lines.map((line, at) => ({ seq: line.seq, line, at })), ...errors].sort((one, other) => one.seq - other.seq);
  return (
    <ol class="said-lines">
      {shown.map((entry) =>
        'error' in entry ? (
          <li key={`${entry.seq}error`} class="branch-error">
            <ErrorMark /> {eventWords(entry.error)}, {eventText(entry.error)}
          </li>
        ) : (
          <Line
            key={`${entry.seq}${entry.line.role}`}
            line={entry.line}
            width={width}
            go={go}
            isDiffering={differs(entry.line, entry.at)}
          />
        ),
      )}
    </ol>
  );
};
