import type { LiveText, NatterEvent, Sender } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { Attachment } from '../../../shared/domain/values/attachment.ts';
import { isNatters } from '../../../shared/domain/values/person-words.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import { answerIn, type Ending } from '../approvals/ending.ts';
import { modelAfter } from '../parts/model-words.ts';
import { answerAfter, answerId, ended, isStoppedInSight, sentTo, stepItems, withNotice, withStopped } from './answers.ts';
import { failureDetails } from './failed.ts';
import { deletedMark, failedText, stoppedMark, undeliveredText } from './mark-texts.ts';
import { afterCheckpoint, afterReset, resetDetails, resetMark } from './resets.ts';
import { aboveWaiting, type QueueState, wantsNoAnswer, whereBegun, whereDropped, whereQueued, withQuestion } from './waiting.ts';

/** What a chat shows, computed from its events alone: the same after a reload, whichever gateway they came through. */

interface Placed {
  readonly id: string;
  readonly seq: number;
  /** The event that it is of: one commit may have several. */
  readonly event?: string;
  readonly at: number;
  /** The sequence of the fork or the reset that left it behind: it is no part of the conversation any more. */
  readonly leftBy?: number | undefined;
  /** Its session was deleted. */
  readonly isGone?: boolean;
}
export interface SaidItem extends Placed, QueueState {
  readonly kind: 'said';
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly sender?: Sender | undefined;
  /** The files that came with it. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** Who sent it, as the log has it: the token of a call. */
  readonly actor?: string | undefined;
  readonly isGrowing?: boolean;
  readonly isEdited?: boolean;
  /** The answer went on after it, with calls. */
  readonly isPart?: boolean;
  /** The answer was stopped here. */
  readonly isStopped?: boolean;
  /** The event that was to be sent to a channel, and which channel. */
  readonly sentTo?: { readonly event: string; readonly channel: string };
  /** The turn that answers it. */
  readonly turnId?: string | undefined;
}
export interface ToolItem extends Placed {
  readonly kind: 'tool';
  readonly tool: string;
  /** The arguments, as the model wrote them. */
  readonly given: string;
  readonly status: 'waiting' | 'running' | 'ok' | 'error' | 'denied' | 'expired' | 'unknown' | 'stopped';
  readonly result?: string;
  readonly endedAt?: number;
  readonly endedSeq?: number;
  readonly isUndone?: boolean;
  /** Key of the session of the sub-agent that it began. */
  readonly spawnedKey?: string;
}
export interface ApprovalItem extends Placed {
  readonly kind: 'approval';
  readonly request: NatterEvent & EventOf<'approval_requested'>;
  readonly answer?: Ending['answer'];
  /** What asked has ended, so that nobody can answer any more. */
  readonly unanswered?: Ending['unanswered'];
}
export interface MarkItem extends Placed {
  readonly kind: 'mark';
  readonly text: string;
  readonly tone: 'calm' | 'bad';
  /** What to do about it. */
  readonly advice?: string | null;
  /** Who asked for it, which follows the text, and what is said after that. */
  readonly by?: { readonly actor: string; readonly rest: string };
  /** The conversation that was ended here, and why nothing of it was remembered. */
  readonly endedSessionId?: string;
  readonly unremembered?: { readonly why: string; readonly seq: number } | undefined;
  /** The run of the command that it answers. */
  readonly runId?: string;
  /** It says how the session is set, which a fork keeps. */
  readonly isOfSetting?: boolean;
  /** The turn whose answer failed here. */
  readonly failedTurnId?: string;
  /** What is said from here on is another conversation. */
  readonly isBeginning?: boolean;
  /** What it is where it leaves something behind: `the fork`. */
  readonly leaver?: string;
  /** Where more is to be seen: its moment in the time machine, what it left behind, or the transcript. */
  readonly leadsTo?: 'moment' | 'fork' | 'transcript';
}
/** What the model thought before it said something or called a tool. */
export interface ReasoningItem extends Placed {
  readonly kind: 'reasoning';
  readonly text: string;
}
export type ChatItem = SaidItem | ToolItem | ApprovalItem | MarkItem | ReasoningItem;

export interface Chat {
  readonly items: readonly ChatItem[];
  /** The text of the running step, as far as it has come. It ends where the next piece must begin. */
  readonly live: { readonly turnId: string; readonly attempt: number; readonly step: number; readonly text: string } | null;
  /** How far answers had come that were stopped while they were shown, by turn: the log has none of it. */
  readonly cut: Readonly<Record<string, string>>;
  readonly isRunning: boolean;
  /** The model that the session has, as far as the events tell. */
  readonly model?: string | undefined;
  /** The session was deleted, and nothing was said since. */
  readonly isDeleted: boolean;
  /** The last event that was taken. */
  readonly seq: number;
  readonly index: number;
}
export const noChat: Chat = { items: [], live: null, cut: {}, isRunning: false, isDeleted: false, seq: 0, index: -1 };

const placed = ({ id, seq, at }: NatterEvent): Placed => ({ id, event: id, seq, at });
const mark = (event: NatterEvent, text: string, tone: MarkItem['tone'] = 'calm'): MarkItem => ({
  ...{ kind: 'mark', ...placed(event), text, tone },
  ...(tone === 'bad' && { leadsTo: 'moment' }),
});

const changed = (
  items: readonly ChatItem[],
  wanted: (item: ChatItem) => boolean,
  change: (item: ChatItem) => ChatItem,
): ChatItem[] => items.map((item) => (wanted(item) ? change(item) : item));
const changedTool = (items: readonly ChatItem[], callId: string, change: Partial<ToolItem>): ChatItem[] =>
  changed(
    items,
    (item) => item.kind === 'tool' && item.id === callId,
    (item) => ({ ...item, ...change }) as ChatItem,
  );

/** The items after an event. */
const itemsAfter = (items: readonly ChatItem[], event: NatterEvent, model?: string): readonly ChatItem[] => {
  switch (event.type) {
    case 'user_message': {
      const { messageId, text, sender, attachments } = event.message;
      if (isNatters(sender)) return [...items, mark(event, `Natter to the agent: ${text}`)];
      const from = { sender, attachments, actor: event.actor, turnId: event.turnId, isUnanswered: wantsNoAnswer(event) };
      return [...items, { kind: 'said', ...placed(event), id: messageId, role: 'user', text, ...from }];
    }
    case 'message_edited':
      return changed(
        items,
        (item) => item.kind === 'said' && item.event === event.of,
        (item) => ({ ...item, text: event.text, isEdited: true }) as ChatItem,
      );
    case 'assistant_message': {
      const text = withoutSilence(event.text);
      return text.trim() === ''
        ? items
        : aboveWaiting(items, {
            ...{ kind: 'said', ...placed(event), role: 'assistant', text },
            id: answerId(items, event.turn.id) ?? event.messageId,
            ...sentTo(event),
          });
    }
    case 'turn_queued':
      return whereQueued(items, event.turn.id);
    case 'turn_started':
      return whereBegun(items, [event.turn.id, ...(event.merged ?? []).map(({ id }) => id)]);
    case 'turn_joined':
      return whereBegun(items, [event.runId]);
    case 'queue_cleared':
      return whereDropped(items, event);
    case 'model_step':
      return aboveWaiting(items, ...stepItems(event));
    case 'tool_call_started':
      return changedTool(items, event.callId, {
        ...{ status: 'running', at: event.at },
        ...(event.spawn && { spawnedKey: event.spawn.key }),
      });
    case 'tool_result':
      return changedTool(items, event.callId, { status: event.outcome, result: event.text, ...ended(event) });
    case 'approval_requested':
      return withQuestion(items, { kind: 'approval', ...placed(event), id: event.approvalId, request: event });
    case 'approval_resolved':
      return changed(
        items,
        (item) => item.kind === 'approval' && item.id === event.approvalId,
        (item) => ({ ...item, answer: answerIn(event) }) as ChatItem,
      );
    case 'session_reset':
      return [...afterReset(items, event), { ...mark(event, resetMark(event)), ...resetDetails(event) }];
    case 'introspected':
    case 'introspection_failed':
      return afterCheckpoint(items, event);
    case 'session_deleted':
      return [...items.map((item) => ({ ...item, isGone: true })), { ...mark(event, ''), ...deletedMark(event) }];
    case 'turn_failed':
      return [...items, { ...mark(event, failedText(event, model), 'bad'), ...failureDetails(event) }];
    case 'turn_aborted':
      return aboveWaiting(items, { ...mark(event, ''), ...stoppedMark(event, isStoppedInSight(items, event.seq)) });
    case 'message_refused':
      return [...items, mark(event, `A message was refused: ${event.code}`, 'bad')];
    case 'delivery_reported':
      return [...items, mark(event, undeliveredText(event), 'bad')];
    case 'context_compacted':
      return [...items, mark(event, `Summarised: ${event.tokensBefore} tokens became ${event.tokensAfter}`)];
    case 'turn_resumed':
      return [...items, mark(event, `Resumed (attempt ${event.turn.attempt})`)];
    case 'notice':
      return withNotice(items, event, mark(event, event.notice.text));
    case 'history_damaged':
      return [...items, mark(event, `The history was damaged: ${event.reason}`, 'bad')];
    default:
      return items;
  }
};

/** The chat after an event; the same chat for one that it has had. */
export const takeEvent = (chat: Chat, event: NatterEvent): Chat => {
  if (event.seq < chat.seq || (event.seq === chat.seq && event.index <= chat.index)) return chat;
  const answer = answerAfter(chat, event);
  return {
    items: itemsAfter(withStopped(chat.items, event, answer.cut), event, chat.model),
    ...answer,
    model: modelAfter(chat.model, event),
    isDeleted:
      event.type === 'session_deleted' || (chat.isDeleted && event.type !== 'session_opened' && event.type !== 'user_message'),
    seq: event.seq,
    index: event.index,
  };
};

/**
 * The chat after a piece of live text. Pieces may be lost, repeated, or come from an attempt that is over: only what continues the text is
 * taken, and a text that begins anew replaces the one before. So no word is there twice.
 */
export const takeLive = (chat: Chat, { turn, step, offset, text }: LiveText): Chat => {
  const { live } = chat;
  const isSame = live !== null && live.turnId === turn.id && live.attempt === turn.attempt && live.step === step;
  if (
    live !== null &&
    !isSame &&
    live.turnId === turn.id &&
    (turn.attempt < live.attempt || (turn.attempt === live.attempt && step < live.step))
  )
    return chat;
  const before = isSame ? live.text : '';
  if (offset > before.length) return chat;
  const joined = before.length > offset + text.length ? before : before.slice(0, offset) + text;
  return { ...chat, live: { turnId: turn.id, attempt: turn.attempt, step, text: joined } };
};
