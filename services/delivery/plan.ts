import type { Config } from '../../shared/config/schema.ts';
import { sendDecision } from '../../shared/policy/send-policy.ts';
import type { Outbound } from '../../shared/ports.ts';
import { withoutSilence } from '../../shared/routing/silence.ts';
import type { EventType, SessionEvent } from '../../shared/session/events.ts';
import type { DeliveryTarget, Settings } from '../../shared/session/types.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';

/**
 * The headlines under which a commit with something to send can be filed; the other commits are not read at all. A notice stands alone, or
 * beside the end of a turn that was stopped.
 */
export const outboundHeadlines: readonly EventType[] = [
  'approval_requested',
  'assistant_message',
  'turn_failed',
  'turn_aborted',
  'notice',
];

/**
 * What a commit sends to whom, in order, and what of it is withheld for which reason. Pure: the same commit gives the same outbounds with
 * the same ids on every read, which is what makes reading the log again harmless. Messages without `deliverTo` are not here: their readers
 * follow the event stream, which needs no custody.
 */
export const plan = (commit: RecordedCommit, policy: Config['session']['sendPolicy']): Outbound[] =>
  commit.events.flatMap((event, index): Outbound[] => {
    const content = contentOf(event, commit.correlationId);
    if (content?.target === undefined) return [];
    const { override, target, ...said } = content;
    const { action, rule } = sendDecision(policy, { key: commit.key, channel: target.channel, override });
    const withheld = action === 'deny' ? `denied by ${rule}` : said.text === '' ? 'there is nothing to say' : undefined;
    return [
      {
        id: `${commit.seq}.${index}`,
        seq: commit.seq,
        key: commit.key,
        target,
        ...said,
        ...(withheld !== undefined && { withheld }),
      },
    ];
  });

interface Content extends Pick<Outbound, 'kind' | 'text' | 'turnId'> {
  readonly target: DeliveryTarget | undefined;
  /** The session's own word on sending, as it was when this was said (A9/96). */
  readonly override?: Settings['sendPolicy'];
}

const contentOf = (event: SessionEvent, runId: string): Content | null => {
  switch (event.type) {
    case 'assistant_message': {
      const text = withoutSilence(event.text);
      return {
        target: event.deliverTo,
        kind: 'assistant_message',
        text: text.trim() === '' ? '' : text,
        turnId: event.turn.id,
        override: event.sendPolicy,
      };
    }
    case 'turn_failed': {
      const text = `There is no answer to this message: ${event.message} (${event.code})`;
      return { target: event.deliverTo, kind: 'notice', text, turnId: event.turn.id, override: event.sendPolicy };
    }
    // The session's own word opens the way for what Natter says and does not close it: who turns sending on or off is told so.
    case 'notice': {
      const override = event.sendPolicy === 'allow' ? event.sendPolicy : undefined;
      return { target: event.notice.deliverTo, kind: 'notice', text: event.notice.text, turnId: runId, override };
    }
    default:
      return null;
  }
};
