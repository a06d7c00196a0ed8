import { useEffect, useState } from 'preact/hooks';
import { type EventPage, type NatterEvent, sessionPath } from '../../../shared/client/main.ts';
import { changeQuery, linkTo } from '../base/route.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { ActorName } from '../finding/host-link.tsx';
import { SessionLink } from '../finding/session-link.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { eventWords, meaningOf } from '../parts/event-words.ts';
import { latencyText, Time } from '../parts/time.tsx';
import { causeOf, type Stage } from './cause.ts';

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

/** From the message to what came of it, on one line. */
const CauseLine = ({ event }: { readonly event: NatterEvent }) => {
  const [stages, setStages] = useState<readonly Stage[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    readAround(event, controller.signal).then(
      (events) => setStages(causeOf(event, events)),
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem(problemOf(error));
      },
    );
    return () => controller.abort();
  }, [event]);
  if (stages === null) return <p class="hint">{problem ?? 'Looking for its cause…'}</p>;
  return (
    <ol class="cause" aria-label="Cause and effect">
      {stages.map(({ event: one, words, afterMs }) => (
        <li key={one.id}>
          {afterMs > 0 && <small>+{latencyText(afterMs)}</small>}
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
    </ol>
  );
};

/** One event: what it is, what it came from and led to, and all of it as JSON. */
export const EventDetail = ({ event }: { readonly event: NatterEvent }) => {
  const json = JSON.stringify(event, null, 2);
  const meaning = meaningOf(event);
  return (
    <article class="event-detail" aria-label={`Event ${event.id}`}>
      <header>
        <h2>{eventWords(event)}</h2>
        <span class="hint">
          Commit {event.rev} of its session, event {event.id} in the log of all sessions, <Time at={event.at} exact />,{' '}
          <span title={event.actor}>
            <ActorName actor={event.actor} />
          </span>
        </span>
      </header>
      {meaning !== null && <p class="hint">{meaning}</p>}
      <CauseLine event={event} />
      <p class="item-facts">
        <SessionLink sessionKey={event.key} />
        <a href={linkTo(['sessions', event.key, 'time'], { at: `${event.seq}` })}>The state after it</a>
        <a href={linkTo(['sessions', event.key, 'transcript'], { at: `${event.seq}` })}>In the transcript</a>
        <CopyButton text={json} what="the event" />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>{json}</pre>
    </article>
  );
};
