import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../../../shared/kit/text/counted.ts';
import { beside } from '../finding/destinations.ts';
import { type Completion, completionsFor } from './completions.ts';
import { isSendKey } from './send-key.ts';
import { useModelNames } from './use-model-names.ts';

const listId = 'completions';
const optionId = (index: number): string => `completion-${index}`;

interface ListProps {
  readonly options: readonly Completion[];
  readonly at: number;
  take(text: string): void;
}
const List = ({ options, at, take }: ListProps) => {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [at]);
  return (
    <div class="completions">
      <div role="listbox" id={listId} aria-label="Commands" ref={list}>
        {options.map(({ text, name, what }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={name}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => take(text)}
          >
            <code>{name}</code> <span>{what}</span>
          </div>
        ))}
      </div>
      <p class="hint">{counted(options.length, 'choice')}: ↑ ↓ choose, Tab takes, Escape closes</p>
    </div>
  );
};

/** How the list stands for a text: for another one it begins anew. */
interface Choice {
  readonly text: string;
  readonly at: number;
  /** Somebody has gone through it, so Enter takes what is chosen. */
  readonly isMoved: boolean;
  readonly isClosed: boolean;
}

/** What can be written in place of what is begun, below a field that keeps the focus. `take` gets the whole text. */
export const useCompletions = (text: string, take: (text: string) => void) => {
  const begun: Choice = { text, at: 0, isMoved: false, isClosed: false };
  const [known, choose] = useState(begun);
  const choice = known.text === text ? known : begun;
  const all = completionsFor(text, useModelNames(text));
  const options = choice.isClosed ? [] : all;
  const at = Math.min(choice.at, options.length - 1);
  const chosen = options[at];
  /** Whether the list has taken a key. */
  const takeKey = (event: KeyboardEvent): boolean => {
    if (chosen === undefined || event.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
    // A command that is not written to its end is no message.
    const isUnfinished = /^\/\S*$/.test(text) && !options.some(({ name }) => name.split(' ', 1)[0] === text);
    const isTab = event.key === 'Tab' && !event.shiftKey && chosen.text.trim() !== text;
    if (step !== undefined) choose({ ...choice, at: beside(at, step, options.length), isMoved: true });
    else if (event.key === 'Escape') choose({ ...choice, isClosed: true });
    else if (isTab || (isSendKey(event) && (choice.isMoved || isUnfinished))) take(chosen.text);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    takeKey,
    list: chosen !== undefined && <List options={options} at={at} take={take} />,
    /** What the field says of the list. */
    field: {
      'aria-autocomplete': 'list' as const,
      'aria-controls': chosen && listId,
      'aria-activedescendant': chosen && optionId(at),
    },
  };
};
