import { oneLine, plainText } from '../parts/one-line.ts';
import { personOf } from '../parts/person.ts';
import type { Said } from '../past/said.ts';

interface SaidLinesProps {
  readonly lines: readonly Said[];
  /** Characters of a line at most. Default: 240. */
  readonly width?: number | undefined;
  /** Goes to the moment of a line. */
  go(line: Said): void;
  /** Whether the line at this index is marked as differing. */
  differs?(line: Said, at: number): boolean;
}

/** What was said, line by line; each leads to its moment. */
export const SaidLines = ({ lines, width = 240, go, differs = () => false }: SaidLinesProps) => (
  <ol class="said-lines">
    {lines.map((line, at) => (
      <li key={`${line.seq}${line.role}`} class={differs(line, at) ? 'branch-differs' : ''}>
        <button type="button" class="branch-line" onClick={() => go(line)}>
          <b>{line.role === 'user' ? personOf(line.sender, line.actor) : 'Agent'}</b> {oneLine(plainText(line.text), width)}
          {differs(line, at) && <span class="unseen"> (differs)</span>}
        </button>
      </li>
    ))}
  </ol>
);
