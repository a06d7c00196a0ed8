import type { NatterEvent } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { ActorName } from '../finding/host-link.tsx';
import { SessionLink } from '../finding/session-link.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { eventWords, meaningOf } from '../parts/event-words.ts';
import { Time } from '../parts/time.tsx';
import { leaverAmong, leftText } from '../past/left-behind.ts';
import { CauseLine } from './cause-line.tsx';
import { useResets } from './use-resets.ts';

/** One event: what it is, what it came from and led to, and all of it as JSON. */
export const EventDetail = ({ event }: { readonly event: NatterEvent }) => {
  const json = JSON.stringify(event, null, 2);
  const meaning = meaningOf(event);
  const leaver = leaverAmong(useResets(event.key, event.seq), event.seq);
  return (
    <article class="event-detail" tabIndex={-1} aria-label={`Event ${event.id}`}>
      <header>
        <h2>{eventWords(event)}</h2>
        <span class="hint">
          <span title={`Log sequence ${event.seq}, event ${event.id}`}>Commit {event.rev} of its session</span>,{' '}
          <Time at={event.at} exact />,{' '}
          <span title={event.actor}>
            <ActorName actor={event.actor} host={event.host} />
          </span>
        </span>
      </header>
      {meaning !== null && <p class="hint">{meaning}</p>}
      {leaver !== '' && <p class="hint">{leftText(leaver)}</p>}
      <CauseLine event={event} />
      <p class="item-facts">
        <SessionLink sessionKey={event.key} />
        {event.rev > 1 && <a href={linkTo(['sessions', event.key, 'time'], { at: `${event.seq - 1}` })}>The state before it</a>}
        <a href={linkTo(['sessions', event.key, 'time'], { at: `${event.seq}` })}>The state after it</a>
        <a href={linkTo(['sessions', event.key, 'transcript'], { at: `${event.seq}` })}>In the transcript</a>
        <CopyButton text={json} what="the event" />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>{json}</pre>
    </article>
  );
};
