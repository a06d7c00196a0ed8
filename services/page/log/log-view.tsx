import { useEffect, useRef, useState } from 'preact/hooks';
import type { LogPage } from '../../../shared/client/main.ts';
import { now } from '../base/now.ts';
import { changeQuery, commitPlace, linkTo, route } from '../base/route.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { nameOfKey } from '../finding/known-names.ts';
import { Empty } from '../parts/empty.tsx';
import { usePoll } from '../parts/poll.ts';
import { LineForTheFile, Pane } from '../parts/read.tsx';
import { exactTime, Time } from '../parts/time.tsx';
import { AuditFacts } from './audit-view.tsx';
import { auditWords } from './audit-words.ts';
import { commitOf, shownFields } from './log-fields.ts';
import { type Line, type LogGroup, logGroups, timesOf } from './log-groups.ts';

const everyMs = 1_000;
const keptLines = 500;
const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
const hidden: ReadonlySet<string> = new Set(['name', 'pid', 'service', 'member']);
/** What the facts of an audit line are made of; its other fields are the detail. */
const audited: ReadonlySet<string> = new Set(['audit', 'kind', 'actor', 'address', 'target', 'count', 'requestId']);

/** The service that wrote a line, which leads to its process where the line says which one it is. */
const Writer = ({ fields: { service, member } }: Pick<Line, 'fields'>) => {
  if (typeof service !== 'string') return null;
  const link = linkTo(['system', 'hosts'], { host: String(member) });
  return (
    <span class="log-service" title={typeof member === 'string' ? member : undefined}>
      {typeof member === 'string' ? <a href={link}>{service}</a> : service}
    </span>
  );
};

/** Follows the log by asking again and again for what is new; stands still while paused. */
const useLog = (level: string, text: string, isPaused: boolean) => {
  const [lines, setLines] = useState<readonly Line[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const after = useRef(0);
  useEffect(() => {
    after.current = 0;
    setLines(null);
  }, [level, text]);
  const read = async (signal: AbortSignal): Promise<void> => {
    if (isPaused) return;
    const query = { after: after.current, level, limit: keptLines, ...(text !== '' && { text }) };
    try {
      const found = await client.get<LogPage>('/v1/log', { query, signal });
      after.current = found.next;
      setLines((before) => [...(before ?? []), ...found.lines].slice(-keptLines));
      setProblem(null);
    } catch (error) {
      if (!signal.aborted) setProblem(problemOf(error));
    }
  };
  usePoll(read, everyMs, [level, text, isPaused]);
  return { lines, problem };
};

/** A line of the audit trail, as the audit view tells it. */
const Audited = ({ fields: { actor, address, target, count, commitSeq, ...fields } }: Pick<Line, 'fields'>) => {
  const said = Object.entries(fields).filter(
    ([name, value]) => !hidden.has(name) && !audited.has(name) && !(name === 'outcome' && value === 'ok'),
  );
  return (
    <span class="item-facts">
      <AuditFacts
        actor={String(actor)}
        address={typeof address === 'string' ? address : undefined}
        target={typeof target === 'string' ? target : undefined}
        count={typeof count === 'number' ? count : undefined}
        commitSeq={typeof commitSeq === 'number' ? commitSeq : undefined}
        detail={said.length === 0 ? undefined : said.map(([name, value]) => `${name}: ${value}`).join(', ')}
      />
    </span>
  );
};

const messageOf = ({ message, fields: { audit } }: Line): string => (audit === true ? auditWords(message) : message);

const Row = ({ line }: { readonly line: Line }) => {
  const { key, audit } = line.fields;
  const commit = commitOf(line);
  return (
    <li class={`log-line log-${line.level}`}>
      <Time at={line.at} exact />
      <b>{line.level}</b>
      <span class="log-text">
        <Writer fields={line.fields} /> {messageOf(line)} {audit === true && <Audited fields={line.fields} />}
        {typeof key === 'string' && <a href={linkTo(['sessions', key, 'transcript'])}>{nameOfKey(key)}</a>}{' '}
        {commit && (
          <a href={linkTo(['sessions', commit.key, 'time'], { at: `${commitPlace}${commit.rev}` })}>commit {commit.rev}</a>
        )}{' '}
        {audit !== true &&
          shownFields(line, (at) => exactTime(at, now.value)).map(({ name, words, text, isShared }) => (
            <span key={name} class="log-field" title={name}>
              {words}{' '}
              {isShared ? (
                <a href={linkTo(['system', 'log'], { find: text, level: 'trace' })} title="Lines with the same">
                  {text}
                </a>
              ) : (
                text
              )}{' '}
            </span>
          ))}
      </span>
    </li>
  );
};

/** Lines that say the same, as one row that opens to them. */
const Group = ({ group }: { readonly group: LogGroup }) => {
  const [newest] = group;
  const { last, first } = timesOf(group);
  const { service } = newest.fields;
  if (group.length === 1) return <Row line={newest} />;
  return (
    <li class={`log-line log-${newest.level}`}>
      <Time at={last} exact />
      <b>{newest.level}</b>
      <details class="log-text">
        <summary>
          {typeof service === 'string' && <span class="log-service">{service}</span>} {messageOf(newest)}{' '}
          <b class="log-count">×{group.length}</b>, since <Time at={first} exact />
        </summary>
        <ol>
          {group.map((line) => (
            <Row key={line.number} line={line} />
          ))}
        </ol>
      </details>
    </li>
  );
};

/** The newest lines of the log of the gateway's process, as they come. */
const LogView = () => {
  const { level = 'info', find: q = '', pause } = route.value.query;
  const isPaused = pause === '1';
  const { lines, problem } = useLog(level, q, isPaused);
  return (
    <Pane
      title="Log"
      hint="Of the process that this gateway runs in, without secrets. With natter up that is the whole system except further hosts."
      read={{ value: lines, problem, again: () => location.reload() }}
    >
      <div class="fields">
        <label class="field">
          <span>Level</span>
          <select value={level} onChange={(event) => changeQuery({ level: event.currentTarget.value })}>
            {levels.map((each) => (
              <option key={each} value={each}>
                {each} and above
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Text, session key, or an id of a run or trace</span>
          <input type="search" value={q} onChange={(event) => changeQuery({ find: event.currentTarget.value.trim() })} />
        </label>
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => changeQuery({ pause: isPaused ? '' : '1' })}>
          {isPaused ? 'Go on' : 'Pause'}
        </button>
      </div>
      {lines?.length === 0 ? (
        <Empty title="No such line yet">
          <p>Lines appear here as they are written. To see more of them, lower the level above, and have more of them written.</p>
          <LineForTheFile line="log: { level: 'debug' }," />
        </Empty>
      ) : (
        <ol class="log" aria-label="Log">
          {logGroups([...(lines ?? [])].reverse()).map((group) => (
            // By its oldest line: it stays the same row while further lines join it.
            <Group key={group.at(-1)?.number} group={group} />
          ))}
        </ol>
      )}
    </Pane>
  );
};
export default LogView;
