import { questionOf } from '../../shared/domain/routing/approval-text.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import { withoutSilence } from '../../shared/domain/values/silence.ts';
import { type DeliveryTarget, type Settings, sessionChannel } from '../../shared/domain/values/types.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';

/** What an event says to whom. To another session it says how a run ended, whatever way it did, and what a person is to be told. */
export interface Content extends Pick<Outbound, 'kind' | 'text' | 'turnId'> {
  readonly target: DeliveryTarget | undefined;
  /** The session's own word on sending, as it was when this was said (A9/96). */
  readonly override?: Settings['sendPolicy'];
}

/** In whose name delivery asks sessions for something. A run that it has stopped itself is nothing to tell: whoever wanted that knows. */
export const deliveryActor = 'delivery';

const toSession = (target: DeliveryTarget | undefined): boolean => target?.channel === sessionChannel;

/** What is said to another session before the run is over. */
const withoutRun = (target: DeliveryTarget | undefined): DeliveryTarget | undefined => {
  if (target === undefined || !toSession(target)) return target;
  const { threadId: _, ...session } = target;
  return session;
};

export const contentOf = (event: SessionEvent, { key, correlationId, actor }: RecordedCommit): Content | null => {
  switch (event.type) {
    case 'assistant_message': {
      const said = withoutSilence(event.text);
      const text = said.trim() === '' ? '' : said;
      const target = event.interim || event.unfinished ? withoutRun(event.deliverTo) : event.deliverTo;
      return { target, kind: 'assistant_message', text, turnId: event.turn.id, override: event.sendPolicy };
    }
    case 'turn_failed': {
      const { sendPolicy: override, turn, message, code, unfinished } = event;
      const target = unfinished ? withoutRun(event.deliverTo) : event.deliverTo;
      if (toSession(target)) return ended(target, turn.id, `There is no answer, the run has failed: ${message} (${code})`);
      const text = `There is no answer to this message: ${message} (${code})`;
      return { target, kind: 'notice', text, turnId: turn.id, override };
    }
    case 'turn_aborted':
    case 'session_deleted':
      if (!toSession(event.deliverTo) || actor === deliveryActor) return null;
      return ended(event.deliverTo, correlationId, `There is no answer, the run was stopped: ${event.reason}`);
    // The session's own word opens the way for what Natter says and does not close it: who turns sending on or off is told so.
    case 'notice': {
      const { deliverTo: target, text } = event.notice;
      return { target, kind: 'notice', text, turnId: correlationId, override: opening(event.sendPolicy) };
    }
    case 'approval_requested': {
      const text = questionOf(event, toSession(event.deliverTo) ? key : null);
      return { target: event.deliverTo, kind: 'notice', text, turnId: event.turn.id, override: opening(event.sendPolicy) };
    }
    default:
      return null;
  }
};

const opening = (policy: Settings['sendPolicy']): Settings['sendPolicy'] => (policy === 'allow' ? policy : undefined);

const ended = (target: DeliveryTarget | undefined, turnId: string, text: string): Content => ({
  target,
  kind: 'assistant_message',
  text,
  turnId,
});
