import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { eventWords, typeWords } from '../parts/event-words.ts';
import { type Status, statusWords } from '../parts/status.tsx';
import { type Way, ways, waysTaken } from './machine-ways.ts';

/** The five states of a session, and the ways between them (docs/architecture.md, `sessionMachine`). */
const boxes: Readonly<Record<Status, { readonly x: number; readonly y: number }>> = {
  idle: { x: 10, y: 14 },
  running: { x: 200, y: 14 },
  inactive: { x: 10, y: 116 },
  awaiting_approval: { x: 200, y: 116 },
  awaiting_results: { x: 390, y: 14 },
};
const [width, height] = [150, 46];

interface MachineDiagramProps {
  readonly before: Status;
  readonly status: Status;
  /** The events of the commit that led from one to the other. */
  readonly events: readonly SessionEvent[];
}

const wayWords = ({ from, to }: Pick<Way, 'from' | 'to'>): string => `${statusWords[from]} → ${statusWords[to]}`;

/** The machine with its current state lit, and the ways that a commit took there, with the event that took each. */
export const MachineDiagram = ({ before, status, events }: MachineDiagramProps) => {
  const taken = waysTaken(before, status, events);
  const passed = taken.length > 0 ? taken.map(({ way }) => way.to) : [status];
  const states = passed.length === 1 && before === status ? passed : [before, ...passed];
  return (
    <>
      <svg
        class="machine"
        viewBox="0 0 550 176"
        role="img"
        aria-label={`State machine: ${states.map((state) => statusWords[state]).join(' to ')}`}
      >
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
            <path d="M0 0L8 4L0 8z" class="machine-tip" />
          </marker>
          <marker id="tip-lit" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
            <path d="M0 0L8 4L0 8z" class="machine-tip-lit" />
          </marker>
        </defs>
        {ways.map((way) => {
          const { path, by, isRare = false } = way;
          const isTaken = taken.some((one) => one.way === way);
          if (isRare && !isTaken) return null;
          return (
            <path
              key={path}
              d={path}
              class={`machine-way ${isTaken ? 'machine-taken' : ''}`}
              marker-end={`url(#tip${isTaken ? '-lit' : ''})`}
            >
              <title>{`${wayWords(way)}: ${by.map(typeWords).join(', ')}`}</title>
            </path>
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
      {taken.length > 0 && (
        <ul class="machine-steps">
          {taken.map(({ way, event }, index) => (
            <li key={index}>
              {wayWords(way)}: <b>{eventWords(event)}</b>
            </li>
          ))}
        </ul>
      )}
    </>
  );
};
