import { useEffect, useState } from 'preact/hooks';
import type { EventPage, LogEntry, NatterEvent } from '../../../shared/client/main.ts';
import { sessionPath } from '../../../shared/client/main.ts';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { now } from '../base/now.ts';
import { changeQuery } from '../base/route.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { deliveryWords, isOver } from '../deliveries/delivery-words.ts';
import { useDeliveries } from '../deliveries/use-deliveries.ts';
import { shortTime, Time } from '../parts/time.tsx';
import { causeOf, recordedMs, type Stage, sentBy } from './cause.ts';

/** How far before and after an event its run is looked for, in sequences of the log and in pages. */
const around = 2_000;
const pages = 4;

/** The events of the session around this one. */
const readAround = async ({ key, seq }: NatterEvent, signal: AbortSignal): Promise<NatterEvent[]> => {
  const found: NatterEvent[] = [];
  let after = `${Math.max(0, seq - around)}`;
  for (let read = 0; read < pages; read++) {
    const page = await client.get<EventPage>(sessionPath(key, '/events'), {
      ...{ query: { after, limit: 1_000 }, signal },
    });
    found.push(...page.events);
    after = page.next;
    if (!page.more || (found.at(-1)?.seq ?? 0) > seq + around) break;
  }
  return found;
};

interface Line {
  readonly stages: readonly Stage[];
  /** When what somebody asked for was accepted; `null`: the line does not begin with that. */
  readonly acceptedAt: number | null;
}

const readLine = async (event: NatterEvent, signal: AbortSignal): Promise<Line> => {
  const events = await readAround(event, signal);
  const first = causeOf(event, events)[0]?.event ?? event;
  const query = { after: first.seq - 1, limit: 1 };
  const { commits } = await client.get<{ commits: LogEntry[] }>(sessionPath(event.key, '/commits'), { query, signal });
  const entry = commits.find(({ seq }) => seq === first.seq);
  const firstMs = entry === undefined ? null : recordedMs(entry);
  return { stages: causeOf(event, events, firstMs ?? 0), acceptedAt: firstMs === null ? null : first.at };
};

const latency = (ms: number): string => (ms < 10_000 ? `+${ms} ms` : `+${spanText(ms)}`);

/** What became of the messages of an event. */
const Deliveries = ({ event }: { readonly event: NatterEvent }) => {
  const { deliveries, problem } = useDeliveries(event.key, event.id);
  if (deliveries === null) return problem === null ? null : <li class="hint">{problem}</li>;
  return (
    <>
      {deliveries.map((one) => (
        <li key={one.outboundId}>
          {one.at !== undefined && isOver(one) && <small>{latency(Math.max(0, one.at - event.at))}</small>}
          <span class="cause-end" title={[one.target.to, ...one.messageIds].join(', ')}>
            {deliveryWords(one, (at) => shortTime(at, now.value))}
          </span>
        </li>
      ))}
    </>
  );
};

/** From what somebody asked for to what came of it and whether that was delivered, on one line. */
export const CauseLine = ({ event }: { readonly event: NatterEvent }) => {
  const [line, setLine] = useState<Line | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    readLine(event, controller.signal).then(setLine, (error: unknown) => {
      if (!controller.signal.aborted) setProblem(problemOf(error));
    });
    return () => controller.abort();
  }, [event]);
  if (line === null) return <p class="hint">{problem ?? 'Looking for its cause…'}</p>;
  const { stages, acceptedAt } = line;
  const sent = sentBy(event, stages);
  return (
    <ol class="cause" aria-label="Cause and effect">
      {acceptedAt !== null && (
        <li>
          <span title="When the gateway accepted what was asked for; of a channel's message, when the channel says that it was sent">
            accepted <Time at={acceptedAt} exact />
          </span>
        </li>
      )}
      {stages.map(({ event: one, words, afterMs }) => (
        <li key={one.id}>
          {afterMs > 0 && <small>{latency(afterMs)}</small>}
          <button
            type="button"
            class="cause-stage"
            aria-current={one.id === event.id ? 'step' : undefined}
            title={one.id}
            onClick={() => changeQuery({ id: one.id })}
          >
            {words}
          </button>
        </li>
      ))}
      {sent !== undefined && <Deliveries key={sent.id} event={sent} />}
    </ol>
  );
};
