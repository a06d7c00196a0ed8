import type { Outbound } from '../../shared/ports.ts';
import { withoutSilence } from '../../shared/routing/silence.ts';
import type { EventType, SessionEvent } from '../../shared/session/events.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';

/** The headlines under which a commit with something to send can be filed; the other commits are not read at all. */
export const outboundHeadlines: readonly EventType[] = ['approval_requested', 'assistant_message', 'turn_failed'];

/**
 * What a commit sends to whom, in order. Pure: the same commit gives the same outbounds with the same ids on every read, which is what
 * makes reading the log again harmless. An outbound without text has nothing to say and is to be suppressed (A6/78). Messages without
 * `deliverTo` are not here: their readers follow the event stream, which needs no custody.
 */
export const plan = (commit: RecordedCommit): Outbound[] =>
  commit.events.flatMap((event, index) => {
    const content = contentOf(event);
    if (content === null) return [];
    return [{ id: `${commit.seq}.${index}`, seq: commit.seq, key: commit.key, ...content }];
  });

type Content = Pick<Outbound, 'target' | 'kind' | 'text' | 'turnId'>;

const contentOf = (event: SessionEvent): Content | null => {
  if (event.type === 'assistant_message' && event.deliverTo) {
    const text = withoutSilence(event.text);
    return { target: event.deliverTo, kind: 'assistant_message', text: text.trim() === '' ? '' : text, turnId: event.turn.id };
  }
  if (event.type === 'turn_failed' && event.deliverTo) {
    const text = `There is no answer to this message: ${event.message} (${event.code})`;
    return { target: event.deliverTo, kind: 'notice', text, turnId: event.turn.id };
  }
  return null;
};
