import { type Status, statusWords } from '../parts/status.tsx';

/** The five states of a session, and the ways between them (docs/architecture.md, `sessionMachine`). */
const boxes: Readonly<Record<Status, { readonly x: number; readonly y: number }>> = {
  idle: { x: 10, y: 14 },
  running: { x: 200, y: 14 },
  inactive: { x: 10, y: 116 },
  awaiting_approval: { x: 200, y: 116 },
  awaiting_results: { x: 390, y: 14 },
};
const [width, height] = [150, 46];

interface Way {
  readonly from: Status;
  readonly to: Status;
  readonly path: string;
}
const ways: readonly Way[] = [
  { from: 'idle', to: 'running', path: 'M160 30H196' },
  { from: 'running', to: 'idle', path: 'M200 46H164' },
  { from: 'idle', to: 'inactive', path: 'M70 60V112' },
  { from: 'inactive', to: 'idle', path: 'M100 116V64' },
  { from: 'running', to: 'awaiting_approval', path: 'M262 60V112' },
  { from: 'awaiting_approval', to: 'running', path: 'M292 116V64' },
  { from: 'awaiting_approval', to: 'idle', path: 'M200 122L148 64' },
  { from: 'running', to: 'awaiting_results', path: 'M350 30H386' },
  { from: 'awaiting_results', to: 'running', path: 'M390 46H354' },
  { from: 'awaiting_results', to: 'idle', path: 'M400 60Q290 104 160 62' },
];

/** The machine with its current state lit, and the way that the commit at this place took. */
export const MachineDiagram = ({ before, status }: { readonly before: Status; readonly status: Status }) => (
  <svg
    class="machine"
    viewBox="0 0 550 176"
    role="img"
    aria-label={`State machine: ${statusWords[before]} to ${statusWords[status]}`}
  >
    <defs>
      <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
        <path d="M0 0L8 4L0 8z" class="machine-tip" />
      </marker>
      <marker id="tip-lit" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
        <path d="M0 0L8 4L0 8z" class="machine-tip-lit" />
      </marker>
    </defs>
    {ways.map(({ from, to, path }) => {
      const isTaken = from === before && to === status;
      return (
        <path
          key={path}
          d={path}
          class={`machine-way ${isTaken ? 'machine-taken' : ''}`}
          marker-end={`url(#tip${isTaken ? '-lit' : ''})`}
        />
      );
    })}
    {Object.entries(boxes).map(([state, { x, y }]) => (
      <g key={state} class={`machine-state ${state === status ? `machine-lit machine-${state}` : ''}`}>
        <rect x={x} y={y} width={width} height={height} rx="10" />
        <text x={x + width / 2} y={y + height / 2 + 4}>
          {statusWords[state as Status]}
        </text>
      </g>
    ))}
  </svg>
);
