/** Line icons on a grid of 20, drawn for this page. They say nothing that a word beside them does not. */
const paths = {
  sessions: 'M3 5.5h14M3 10h14M3 14.5h9',
  approvals: 'M10 2.8l6 2.4v4.3c0 3.6-2.5 6.4-6 7.7-3.5-1.3-6-4.1-6-7.7V5.2zM7.4 10l1.9 1.9 3.4-3.7',
  events: 'M3 5h3l2 10 3-12 2 9h4',
  system: 'M4 4.500h12v4H4zM4 11.500h12v4H4zM6.500 6.500h.01M6.500 13.500h.01',
  account: 'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3.8 16.8c.8-2.7 3.2-4.3 6.2-4.3s5.4 1.6 6.2 4.3',
  plus: 'M10 4v12M4 10h12',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  back: 'M12 4.5L6.5 10l5.5 5.5',
  send: 'M10 16V4.5M5 9l5-5 5 5',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.300l2.800 1.700',
  clip: 'M14.800 9.200l-5.300 5.300a3.100 3.100 0 0 1-4.400-4.400l6.200-6.200a2.100 2.100 0 0 1 3 3l-6.100 6.100a1.050 1.050 0 0 1-1.500-1.500l5.200-5.200',
  stop: 'M6 6h8v8H6z',
  tool: 'M12.6 3.4a4 4 0 0 0-4.9 5.2L3.5 12.8a1.6 1.6 0 0 0 0 2.3l1.4 1.4a1.6 1.6 0 0 0 2.3 0l4.2-4.2a4 4 0 0 0 5.2-4.9l-2.4 2.4-2.4-.6-.6-2.4z',
  play: 'M6.5 4.2l9 5.8-9 5.8z',
  pause: 'M7 4.5v11M13 4.5v11',
  first: 'M15 4.5L8.5 10l6.5 5.5M5 4.5v11',
  last: 'M5 4.5L11.500 10 5 15.500M15 4.5v11',
  previous: 'M12.500 4.500L7 10l5.500 5.500',
  next: 'M7.500 4.500L13 10l-5.500 5.500',
  fork: 'M6 6.500v7M6 6.500a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM6 17.100a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM14 8.500a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM14 8.500c0 3-3 3.500-5 3.800',
  check: 'M4.500 10.500l3.500 3.500 7.500-8',
  cross: 'M5 5l10 10M15 5L5 15',
  warning: 'M10 3.500L17.500 16.500H2.500zM10 8.500v3.500M10 14.300h.01',
  out: 'M8 4H4.500v12H8M12.500 6.500L16 10l-3.500 3.500M16 10H8',
} as const;
export type IconName = keyof typeof paths;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);

/** Stands before the words of an error, so that it is found without its colour as well. */
export const ErrorMark = () => (
  <span class="error-mark">
    <Icon name="warning" />
    <span class="unseen">Error: </span>
  </span>
);
