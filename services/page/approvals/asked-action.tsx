import { actionText } from './command-line.ts';

/** What would run, broken at its spaces alone: `--` at the end of a line would read as another option than `--all`. */
export const AskedAction = ({ action }: { readonly action: string }) => (
  <p class="approval-action">
    {actionText(action)
      .split(/(\s+)/)
      .map((part, at) => (at % 2 === 0 ? <span key={at}>{part}</span> : part))}
  </p>
);
