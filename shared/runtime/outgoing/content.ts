import { questionOf } from '../../domain/routing/approval-text.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import type { SessionEvent } from '../../domain/session/events.ts';
import type { Settings } from '../../domain/values/settings.ts';
import { withoutSilence } from '../../domain/values/silence.ts';
import { type DeliveryTarget, sessionChannel } from '../../domain/values/types.ts';
import type { Outbound } from '../../ports/custody-log.ts';

/** The text an event sends, and to whom. Another session also learns how a run ended, and gets the notices for its person. */
export interface Content extends Pick<Outbound, 'kind' | 'text' | 'turnId'> {
  readonly target: DeliveryTarget | undefined;
  /** The session's own send policy at that time (A9/96). */
  readonly override?: Settings['sendPolicy'];
}

/** The actor of the commands that delivery sends. A run it has stopped itself is not reported: the one who asked for it knows. */
export const deliveryActor = 'delivery';

const toSession = (target: DeliveryTarget | undefined): boolean => target?.channel === sessionChannel;

/** The target of a message to another session that does not end the run. */
const withoutRun = (target: DeliveryTarget | undefined): DeliveryTarget | undefined => {
  if (target === undefined || !toSession(target)) return target;
  const { threadId: _, ...session } = target;
  return session;
};

export const contentOf = (event: SessionEvent, { key, correlationId, actor }: RecordedCommit): Content | null => {
  switch (event.type) {
    case 'assistant_message': {
      const reply = withoutSilence(event.text);
      const text = reply.trim() === '' ? '' : reply;
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
    // The session's own policy may allow Natter's notices, but not deny them: turning sending on or off must be confirmed.
    case 'notice': {
      const { deliverTo: target, text } = event.notice;
      return { target, kind: 'notice', text, turnId: correlationId, override: opening(event.sendPolicy) };
    }
    case 'delivery_repeated': {
      const { deliverTo: target, kind, text, turnId, sendPolicy } = event;
      return { target, kind, text, turnId, override: kind === 'notice' ? opening(sendPolicy) : sendPolicy };
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
