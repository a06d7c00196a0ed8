import { useEffect, useRef } from 'preact/hooks';
import type { Hosts } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { spanText } from '../../../shared/kit/text/span-text.ts';

import { now } from '../base/now.ts';
import { changeQuery, route } from '../base/route.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { nameOf } from '../finding/session-name.ts';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { rows } from '../sessions/session-list.ts';

/** A partition changes hands within seconds, and this is to be seen. */
const everyMs = 1_000;
/** Colours there are; hosts beyond that share them, and differ by their letters. */
const colours = 6;

type Process = Hosts['processes'][number];
type Partition = Hosts['partitions'][number];

const letterOf = (index: number): string => String.fromCharCode(65 + (index % 26));

const Cell = ({ cell, index, isMarked }: { readonly cell: Partition; readonly index: number; readonly isMarked: boolean }) => {
  const { partition, process, since, waiting } = cell;
  const words = [
    `Partition ${partition}: ${process === null ? 'nobody has it' : `host ${letterOf(index)}`}`,
    ...(since === undefined ? [] : [`for ${spanText(now.value - since)}`]),
    ...(waiting ? [`${counted(waiting, 'command')} waiting`] : []),
    ...(isMarked ? ['has the marked session'] : []),
  ].join(', ');
  const colour = process === null ? 'cell-free' : `cell-${index % colours}`;
  return (
    <li class={`cell ${colour} ${isMarked ? 'cell-marked' : ''}`} title={words}>
      <span class="unseen">{words}</span>
      <span aria-hidden="true">{process === null ? '–' : letterOf(index)}</span>
      {waiting ? <b aria-hidden="true">{waiting}</b> : null}
    </li>
  );
};

interface CellsProps {
  readonly partitions: readonly Partition[];
  readonly hosts: readonly string[];
  readonly marked: number | undefined;
}
const Cells = ({ partitions, hosts, marked }: CellsProps) => (
  <ol class="cells" aria-label="Partitions">
    {partitions.map((cell) => (
      <Cell
        key={cell.partition}
        cell={cell}
        index={cell.process === null ? 0 : Math.max(0, hosts.indexOf(cell.process))}
        isMarked={cell.partition === marked}
      />
    ))}
  </ol>
);

const Marker = () => {
  const { key = '' } = route.value.query;
  const known = (rows.value?.list ?? []).slice(0, 50);
  return (
    <label class="field">
      <span>Find a session</span>
      <select value={key} onChange={(event) => changeQuery({ key: event.currentTarget.value })}>
        <option value="">None</option>
        {key !== '' && !known.some((row) => row.key === key) && <option value={key}>{key}</option>}
        {known.map((row) => (
          <option key={row.key} value={row.key}>
            {nameOf(row)}
          </option>
        ))}
      </select>
    </label>
  );
};

const ProcessCard = ({
  one,
  letter,
  held,
  versions,
  isAsked,
}: {
  readonly one: Process;
  readonly letter: { readonly text: string; readonly colour: number } | null;
  readonly held: readonly Partition[];
  readonly versions: ReadonlySet<string>;
  /** A link led to it. */
  readonly isAsked: boolean;
}) => {
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isAsked) card.current?.scrollIntoView({ block: 'nearest' });
  }, [isAsked]);
  const named = one.services.filter(({ member }) => member !== undefined);
  const troubles = one.services.flatMap(({ problems, warnings }) => [...problems, ...warnings]);
  const turns = one.services.reduce((sum, { metrics }) => sum + (metrics.turns_running ?? 0), 0);
  return (
    <li class="item" ref={card} aria-current={isAsked ? 'true' : undefined}>
      <header>
        {letter && <span class={`cell cell-${letter.colour}`}>{letter.text}</span>}
        <h2>{one.process}</h2>
      </header>
      <p class="item-facts">
        <span>runs {one.services.map(({ name }) => name).join(', ')}</span>
        <span class={versions.size > 1 ? 'differs' : ''}>version {one.version}</span>
        <span>
          started <Time at={one.startedAt} />
        </span>
        {letter && <span>{counted(held.length, 'partition')}</span>}
        {letter && <span>{counted(turns, 'answer')} under way</span>}
      </p>
      {named.length > 0 && (
        <details class="hosts-one" open={isAsked}>
          <summary>What its services are called in commits and in the log</summary>
          <p class="item-facts">
            {named.map(({ name, member }) => (
              <span key={name}>
                {name}: <code>{member}</code>
              </span>
            ))}
          </p>
        </details>
      )}
      {troubles.map((trouble) => (
        <p key={trouble} class="item-trouble">
          {trouble}
        </p>
      ))}
    </li>
  );
};

/** Which host has which share of the sessions. When one dies, its cells become another's within seconds. */
const HostsView = () => {
  const { key, host = '' } = route.value.query;
  const read = useRead<Hosts>('/v1/hosts', { query: { key }, everyMs });
  const { processes = [], partitions = [], ofKey } = read.value ?? {};
  const hosts = processes.filter(({ services }) => services.some(({ name }) => name === 'session')).map(({ process }) => process);
  const versions = new Set(processes.map(({ version }) => version));
  const holders = new Set(partitions.map(({ process }) => process));
  const only = holders.size === 1 ? ([...holders][0] ?? undefined) : undefined;
  const asked = processes.find(({ process, services }) => process === host || services.some(({ member }) => member === host));
  return (
    <Pane
      title="Hosts"
      hint="Every session is in one of the partitions, and each partition has one host: the process that works for its sessions. If a host dies, another takes its partitions over within seconds, and goes on with what waits."
      read={read}
    >
      {processes.length === 0 ? (
        <Empty title="No process reports">
          <p>Every process of Natter is listed here while it runs; each says every three seconds that it does.</p>
          <LineToCopy says="Start a host on a terminal:" line="natter service session" />
        </Empty>
      ) : (
        <>
          <Marker />
          {host !== '' && asked === undefined && (
            <p class="hint">The host {host} does not run any more. Another one has its sessions.</p>
          )}
          {only === undefined ? (
            <Cells partitions={partitions} hosts={hosts} marked={ofKey} />
          ) : (
            <details class="hosts-one" open={ofKey !== undefined}>
              <summary>
                All {partitions.length} partitions are on one host, {only}.
              </summary>
              <Cells partitions={partitions} hosts={hosts} marked={ofKey} />
            </details>
          )}
          {key !== undefined && key !== '' && ofKey !== undefined && (
            <p class="hint">
              <SessionLink sessionKey={key} /> is in partition {ofKey}.
            </p>
          )}
          {versions.size > 1 && <p class="item-trouble">The processes have different versions: finish the upgrade.</p>}
          <ul class="items">
            {processes.map((one) => {
              const index = hosts.indexOf(one.process);
              return (
                <ProcessCard
                  key={one.process}
                  one={one}
                  letter={index < 0 ? null : { text: letterOf(index), colour: index % colours }}
                  held={partitions.filter(({ process }) => process === one.process)}
                  versions={versions}
                  isAsked={one === asked}
                />
              );
            })}
          </ul>
        </>
      )}
    </Pane>
  );
};
export default HostsView;
