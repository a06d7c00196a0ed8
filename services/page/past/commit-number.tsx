import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Past } from './past.ts';

interface Props {
  readonly past: Past;
  readonly words: string;
  readonly isUnseen?: boolean;
  /** The number that is chosen. */
  readonly number: number;
  readonly field?: RefObject<HTMLInputElement | null>;
  /** Chooses the commit of a number, or the one before it; `null`: none was typed. Returns the number that is chosen then. */
  choose(typed: number | null): number;
}

/** A field for the number of a commit. It says where it went, and which commit is the newest where a later one was typed. */
export const CommitNumber = ({ past: { timeline, count }, words, isUnseen = false, number, field, choose }: Props) => {
  const newest = timeline.numberAt(count.value);
  const [tooLate, setTooLate] = useState(false);
  // Somebody has gone elsewhere since.
  if (tooLate && number !== newest) setTooLate(false);
  const change = (input: HTMLInputElement): void => {
    const typed = /^\d+$/.test(input.value) ? Number(input.value) : null;
    input.value = `${choose(typed)}`;
    setTooLate(typed !== null && typed > newest);
  };
  return (
    <label class="place">
      <span class={isUnseen ? 'unseen' : undefined}>{words}</span>
      <input
        type="number"
        min={0}
        max={newest}
        value={number}
        ref={field}
        onChange={({ currentTarget }) => change(currentTarget)}
      />
      <span role="status">{tooLate ? `The newest is ${newest}` : `of ${newest}`}</span>
    </label>
  );
};
