import { useMemo } from 'preact/hooks';
import { bareKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionMarkdown } from '../../../shared/domain/projections/session-markdown.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { latencyText, spanText } from '../../../shared/kit/text/span-text.ts';
import { linkTo, listQuery, route } from '../base/route.ts';
import { who } from '../base/signed-in.ts';
import { saveFile } from '../files/save-file.ts';
import { HostLink } from '../finding/host-link.tsx';
import { Problem } from '../parts/empty.tsx';
import { eventWords } from '../parts/event-words.ts';
import { hostOf, isHost } from '../parts/host.ts';
import { ErrorMark } from '../parts/icon.tsx';
import { actorText, decidedText, eventText } from '../parts/person.ts';
import { generationWords } from '../parts/reset-words.ts';
import { Time } from '../parts/time.tsx';
import { useVirtual } from '../parts/virtual.ts';
import { gatewayPast } from '../past/gateway-past.ts';
import { landmarkOf } from '../past/landmark.ts';
import type { PastSource } from '../past/past.ts';
import { type EventRow, type GenerationRow, rowAt, transcriptRows } from './transcript-rows.ts';
import { useCommits } from './use-commits.ts';
import { useReadingPlace } from './use-reading-place.ts';

const rowHeight = 52;

const tokensOf = (event: SessionEvent): string | null => {
  if (event.type !== 'model_step') return null;
  const { inputTokens, outputTokens, costUsd } = event.usage;
  return `${inputTokens} in, ${outputTokens} out${costUsd === undefined ? '' : `, $${costUsd.toFixed(4)}`}`;
};

interface LineLinks {
  /** Where the moment of a commit is shown. */
  timeLink(seq: number): string;
  /** The address of the lines of a commit. */
  lineLink(seq: number): string;
}

interface LineProps extends LineLinks {
  readonly line: EventRow;
  readonly isMarked: boolean;
  /** It is of this gateway: its hosts can be looked at. */
  readonly isLive: boolean;
}

/** Its name is long, and the same on most lines. */
const ShortHost = ({ host, isLive }: { readonly host: string; readonly isLive: boolean }) => {
  const words = (
    <>
      host<span class="unseen"> {host}</span>
    </>
  );
  return isLive ? <HostLink host={host}>{words}</HostLink> : <span title={host}>{words}</span>;
};

const EventLine = ({ line, isMarked, isLive, timeLink, lineLink }: LineProps) => {
  const { event, at, actor, isFirst, sinceMs, tookMs, left, rev, seq } = line;
  const host = isHost(actor) ? hostOf(actor) : line.host;
  const tokens = tokensOf(event);
  return (
    <div
      class={`line line-${landmarkOf(event) ?? 'plain'} ${left === undefined ? '' : 'line-left'}`}
      aria-current={isMarked ? 'true' : undefined}
    >
      <a class="line-id" href={timeLink(seq)} title="Show this commit in the time machine">
        <span class="unseen">commit </span>
        {rev}
      </a>
      <span class="line-type">
        {landmarkOf(event) === 'error' && <ErrorMark />}
        {eventWords(event)}
      </span>
      <span class="line-text">
        {left !== undefined && (
          <>
            <b>Left behind</b>
            <span class="line-fork-time">
              {' '}
              by {left.by} at <Time at={left.at} exact />
            </span>{' '}
          </>
        )}
        {eventText(event, actor)}
      </span>
      <span class="line-facts">
        {tokens !== null && <span>{tokens}</span>}
        {tookMs !== undefined && <span>took {latencyText(tookMs)}</span>}
        {tookMs === undefined && sinceMs >= 1_000 && <span>after {spanText(sinceMs)}</span>}
      </span>
      <span class="line-actor" title={actorText(actor)}>
        {isFirst && !isHost(actor) && actorText(actor)}
      </span>
      <span class="line-host">{host !== undefined && <ShortHost host={host} isLive={isLive} />}</span>
      <a class="line-at" href={lineLink(seq)} title="The address of this line">
        <Time at={at} exact />
      </a>
    </div>
  );
};

/** A generation by why it began: its number says nothing to people. */
const Generation = ({ heading: { event, actor, at } }: { readonly heading: GenerationRow }) => (
  <h2 class="line-heading">
    <span>{generationWords(event, decidedText(actor))}</span> <Time at={at} exact />
  </h2>
);

/** Of what people call the session and of today: `garden-2026-11-28.md`. */
const transcriptName = (called: string, ending: string): string => {
  const words = called.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return `${words.join('-').slice(0, 60) || 'session'}-${new Date().toISOString().slice(0, 10)}.${ending}`;
};

interface TranscriptProps extends Partial<LineLinks> {
  readonly sessionKey: string;
  /** What people call the session. Default: its key without the agent. */
  readonly name?: string | undefined;
  /** Default: the gateway. */
  readonly source?: PastSource;
}

/** The whole log of a session, event by event: who, when, how long, how many tokens, and the commit of each line. It goes on as the session does. */
const TranscriptView = ({
  sessionKey,
  name = bareKey(sessionKey),
  source: given,
  timeLink = (seq) => linkTo(['sessions', sessionKey, 'time'], { ...listQuery(), at: `${seq}` }),
  lineLink = (seq) => linkTo(['sessions', sessionKey, 'transcript'], { ...listQuery(), at: `${seq}` }),
}: TranscriptProps) => {
  const source = useMemo(() => given ?? gatewayPast(sessionKey), [given, sessionKey]);
  const { commits, isRead, problem } = useCommits(source);
  const lines = useMemo(() => transcriptRows(commits), [commits]);
  const { at = '' } = route.value.query;
  const marked = useMemo(() => (/^\d+$/.test(at) ? rowAt(lines, Number(at)) : null), [lines, at]);
  const markedSeq = marked === null ? null : lines[marked]?.seq;
  const { scroller, rows, height } = useVirtual({ count: lines.length, rowHeight });
  const noteScroll = useReadingPlace(scroller, { place: marked, rowHeight, count: lines.length, isRead });
  const events = lines.filter(({ kind }) => kind === 'line').length;
  return (
    <div class="transcript">
      {problem !== null && <Problem text={problem} />}
      <div class="transcript-head">
        <p class="hint">
          {isRead ? `${counted(events, 'event')} in ${counted(commits.length, 'change')} (commits)` : 'Reading…'}
        </p>
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
          onClick={() =>
            saveFile(transcriptName(name, 'md'), sessionMarkdown(commits, who.value?.actor, name).text, 'text/markdown')
          }
        >
          Download Markdown
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="lines" ref={scroller} onScroll={noteScroll} tabIndex={0} aria-label="Events">
        <ol style={{ height: `${height}px` }}>
          {rows.map(({ index, start }) => {
            const row = lines[index];
            return (
              row && (
                <li key={row.id} style={{ transform: `translateY(${start}px)` }}>
                  {row.kind === 'heading' ? (
                    <Generation heading={row} />
                  ) : (
                    <EventLine
                      line={row}
                      isMarked={row.seq === markedSeq}
                      isLive={source.isLive}
                      timeLink={timeLink}
                      lineLink={lineLink}
                    />
                  )}
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
