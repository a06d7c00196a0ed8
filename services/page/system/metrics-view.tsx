import { useEffect, useMemo, useReducer, useState } from 'preact/hooks';
import type { MetricHistory as StoredHistory } from '../../../shared/client/main.ts';
import { client, problemOf, readText } from '../base/signed-in.ts';
import { Pane } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { MetricHistory, type Point, type Wanted } from './metric-history.ts';

const everyMs = 2_000;
const keptMs = 900_000;

/** `says`: what is counted, for who does not know the word. */
const lines: readonly (Wanted & { readonly says: string })[] = [
  { title: 'Answers under way', says: 'hosts work on them', metric: 'natter_turns_running' },
  { title: 'Commits a second', says: 'recorded in the log', metric: 'natter_commits_total', rate: true },
  {
    ...{ title: 'Commands waiting', says: 'for a host to do them' },
    ...{ metric: 'natter_queue_messages', label: 'queue="commands"' },
  },
  { title: 'Approvals waiting', says: 'questions to a person', metric: 'natter_approvals_pending' },
  { title: 'Answers ended a second', says: 'failed ones too', metric: 'natter_turns_ended_total', rate: true },
  { title: 'Tokens a second', says: 'read and written by models', metric: 'natter_tokens_total', rate: true },
  { title: 'Commits not in lists yet', says: 'the list of sessions is behind', metric: 'natter_index_lag_commits' },
  { title: 'Sessions in memory', says: 'loaded by the hosts', metric: 'natter_sessions_resident' },
  {
    ...{ title: 'Requests a second', says: 'calls to the gateway' },
    ...{ metric: 'natter_http_request_duration_seconds_count', rate: true },
  },
  { title: 'Open event streams', says: 'pages and programs that listen', metric: 'natter_event_streams' },
  { title: 'Deliveries open', says: 'not known to have arrived', metric: 'natter_deliveries_open' },
  { title: 'Dead letters', says: 'kept for a person', metric: 'natter_dead_letters' },
];

const shown = (value: number): string => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });

const Sparkline = ({ points: measured }: { readonly points: readonly Point[] }) => {
  const most = Math.max(1, ...measured.map(({ value }) => value));
  const last = measured.at(-1)?.at ?? 0;
  const points = measured.map(({ at, value }) => {
    const x = 200 - ((last - at) / keptMs) * 200;
    return `${x.toFixed(1)},${(38 - (value / most) * 34).toFixed(1)}`;
  });
  return (
    <svg class="sparkline" viewBox="0 0 200 40" preserveAspectRatio="none" aria-hidden="true">
      <path d="M0 38H200" class="sparkline-ground" />
      <polyline points={points.join(' ')} />
    </svg>
  );
};

/** A line has its place before it has a value: a rate needs two samples, and some counters are not there before they count. */
const Line = ({ wanted, history }: { readonly wanted: (typeof lines)[number]; readonly history: MetricHistory }) => {
  const points = history.pointsOf(wanted);
  const last = points.at(-1);
  const peak = points.reduce<Point | undefined>((most, point) => (most && most.value >= point.value ? most : point), undefined);
  return (
    <li class="metric">
      <span class="metric-name">{wanted.title}</span>
      <b>{last === undefined ? '…' : shown(last.value)}</b>
      <Sparkline points={points} />
      {last !== undefined && (
        <span class="metric-times hint">
          <Time at={last.at - keptMs} clock /> <span>now</span>
        </span>
      )}
      <span class="hint">
        {wanted.says}
        <br />
        {peak === undefined ? 'nothing yet' : `peak ${shown(peak.value)}`}
        {peak !== undefined && peak.value > 0 && (
          <>
            {' '}
            at <Time at={peak.at} exact />
          </>
        )}
      </span>
    </li>
  );
};

/** The most telling numbers of `/metrics`, as they have developed, and go on while this is open. */
const MetricsView = () => {
  const history = useMemo(() => new MetricHistory(keptMs), []);
  const [samples, sampled] = useReducer((count: number, _: null) => count + 1, 0);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    let failures = 0;
    const read = async (): Promise<void> => {
      try {
        const text = await readText('/metrics', controller.signal);
        history.add(Date.now(), text);
        failures = 0;
        setProblem(null);
        sampled(null);
      } catch (error) {
        failures++;
        const text = problemOf(error);
        // Once is nothing: the gateway may be starting, and the next sample comes in a moment.
        if (!controller.signal.aborted && failures > 1) setProblem(text);
      }
    };
    client.get<StoredHistory>('/v1/metrics/history', { signal: controller.signal }).then(
      (kept) => {
        history.begin(kept);
        sampled(null);
      },
      // The line begins now.
      () => {},
    );
    void read();
    // While the page is hidden as well: a line has no gaps.
    const timer = setInterval(() => void read(), everyMs);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [history]);
  return (
    <Pane
      title="Metrics"
      hint={`The last 15 minutes of the process that this gateway runs in, if it has run so long. Queues, approvals and deliveries are those of the whole system. ${history.lacksAny(lines) ? 'A line that stays at … is counted in another process, or has not happened yet. ' : ''}For longer, have a program read /metrics.`}
      read={{ value: samples === 0 ? null : samples, problem, again: () => location.reload() }}
    >
      <ul class="metrics">
        {lines.map((wanted) => (
          <Line key={wanted.title} wanted={wanted} history={history} />
        ))}
      </ul>
    </Pane>
  );
};
export default MetricsView;
