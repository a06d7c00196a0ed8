import { useState } from 'preact/hooks';

const longest = 400;

/** A value in one short text. */
const shortValue = (value: unknown): string => {
  if (value === undefined) return '—';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

/** A value as a tree; a part is drawn when it is opened. */
export const JsonTree = ({ name, value }: { readonly name: string; readonly value: unknown }) => {
  const [isOpen, setOpen] = useState(false);
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isBranch)
    return (
      <div class="leaf">
        <span class="leaf-name">{name}</span> <span class="leaf-value">{shortValue(value)}</span>
      </div>
    );
  const parts = Object.entries(value);
  return (
    <details class="tree" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="leaf-name">{name}</span>{' '}
        <span class="leaf-count">{Array.isArray(value) ? `${parts.length} items` : `${parts.length} fields`}</span>
      </summary>
      {isOpen && parts.map(([part, inner]) => <JsonTree key={part} name={part} value={inner} />)}
    </details>
  );
};
