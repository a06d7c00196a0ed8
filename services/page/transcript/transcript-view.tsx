import { useEffect, useMemo, useState } from 'preact/hooks';
import type { LogEntry } from '../../../shared/client/main.ts';
import { bareKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionMarkdown } from '../../../shared/domain/projections/session-markdown.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { linkTo, listQuery } from '../base/route.ts';
import { client, problemOf, who } from '../base/signed-in.ts';
import { saveFile } from '../files/save-file.ts';
import { Problem } from '../parts/empty.tsx';
import { eventWords } from '../parts/event-words.ts';
import { isHost } from '../parts/host.ts';
import { ErrorMark } from '../parts/icon.tsx';
import { actorText, eventText } from '../parts/person.ts';
import { spanText, Time } from '../parts/time.tsx';
import { useVirtual } from '../parts/virtual.ts';
import { landmarkOf } from '../past/landmark.ts';
import type { PastSource } from '../past/past.ts';

/** One event, as a line of the transcript. */
interface Line {
  readonly id: string;
  readonly seq: number;
  /** The commit's number in the session. */
  readonly rev: number;
  readonly at: number;
  readonly event: SessionEvent;
  readonly actor: string;
  /** Time since the line before, ms. */
  readonly sinceMs: number;
}
const rowHeight = 52;
const pageCommits = 2_000;

const linesOf = (commits: readonly LogEntry[]): Line[] => {
  let last = commits[0]?.at ?? 0;
  return commits.flatMap(({ seq, rev, at, actor, events }) => {
    const sinceMs = at - last;
    last = at;
    return events.map((event, index) => {
      const since = index === 0 ? sinceMs : 0;
      return { id: `${seq}.${index}`, seq, rev, at, event, actor, sinceMs: since };
    });
  });
};

const tokensOf = (event: SessionEvent): string | null => {
  if (event.type !== 'model_step') return null;
  const { inputTokens, outputTokens, costUsd } = event.usage;
  return `${inputTokens} in, ${outputTokens} out${costUsd === undefined ? '' : `, $${costUsd.toFixed(4)}`}`;
};

const Row = ({ line, link }: { readonly line: Line; readonly link: string }) => {
  const { event, at, actor, sinceMs, rev } = line;
  const tokens = tokensOf(event);
  return (
    <div class={`line line-${landmarkOf(event) ?? 'plain'}`} title={actorText(actor)}>
      <a class="line-id" href={link} title="Show this moment in the time machine">
        {rev}
      </a>
      <span class="line-type">
        {landmarkOf(event) === 'error' && <ErrorMark />}
        {eventWords(event)}
      </span>
      <span class="line-text">{eventText(event, actor)}</span>
      <span class="line-facts">
        {tokens !== null && <span>{tokens}</span>}
        {sinceMs >= 1_000 && <span>after {spanText(sinceMs)}</span>}
        {!isHost(actor) && <span>{actorText(actor)}</span>}
        <Time at={at} exact />
      </span>
    </div>
  );
};

/** Of what people call the session and of today: `garden-2026-11-28.md`. */
const transcriptName = (called: string, ending: string): string => {
  const words = called.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return `${words.join('-').slice(0, 60) || 'session'}-${new Date().toISOString().slice(0, 10)}.${ending}`;
};

interface TranscriptProps {
  readonly sessionKey: string;
  /** What people call the session. Default: its key without the agent. */
  readonly name?: string | undefined;
  /** Default: the gateway. */
  readonly source?: Pick<PastSource, 'commits'>;
  /** Where the moment of a line is shown. Default: in the session's time machine. */
  timeLink?(seq: number): string;
}

/** The whole log of a session, event by event: who, when, how long, how many tokens, and the commit of each line. */
const TranscriptView = ({
  sessionKey,
  name = bareKey(sessionKey),
  source,
  timeLink = (seq) => linkTo(['sessions', sessionKey, 'time'], { ...listQuery(), at: `${seq}` }),
}: TranscriptProps) => {
  const [commits, setCommits] = useState<readonly LogEntry[]>([]);
  const [isRead, setRead] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const read = async (): Promise<void> => {
      const found: LogEntry[] = [];
      for await (const commit of source?.commits(0, signal) ?? client.sessions.export(sessionKey, { signal })) {
        found.push(commit);
        if (found.length % pageCommits === 0) setCommits([...found]);
      }
      setCommits(found);
      setRead(true);
    };
    read().catch((error: unknown) => {
      if (!signal.aborted) setProblem(problemOf(error));
    });
    return () => controller.abort();
  }, [sessionKey, source]);
  const lines = useMemo(() => linesOf(commits), [commits]);
  const { scroller, rows, height } = useVirtual({ count: lines.length, rowHeight });
  return (
    <div class="transcript">
      {problem !== null && <Problem text={problem} />}
      <div class="transcript-head">
        <p class="hint">{isRead ? `${counted(lines.length, 'event')} in ${counted(commits.length, 'commit')}` : 'Reading…'}</p>
        <button
          type="button"
          class="button button-quiet"
          disabled={!isRead}
          onClick={() =>
            saveFile(
              transcriptName(name, 'jsonl'),
              `${commits.map((commit) => JSON.stringify(commit)).join('\n')}\n`,
              'application/x-ndjson',
            )
          }
        >
          Download JSONL
        </button>
        <button
          type="button"
          class="button button-quiet"
          disabled={!isRead}
          onClick={() => saveFile(transcriptName(name, 'md'), sessionMarkdown(commits, who.value?.actor).text, 'text/markdown')}
        >
          Download Markdown
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="lines" ref={scroller} tabIndex={0} aria-label="Events">
        <ol style={{ height: `${height}px` }}>
          {rows.map(({ index, start }) => {
            const line = lines[index];
            return (
              line && (
                <li key={line.id} style={{ transform: `translateY(${start}px)` }}>
                  <Row line={line} link={timeLink(line.seq)} />
                </li>
              )
            );
          })}
        </ol>
      </section>
    </div>
  );
};
export default TranscriptView;
