import type { NatterEvent, Sender } from '../../../shared/client/main.ts';
import { hostOf } from '../parts/host.ts';

/** What the log of a session tells of one approval: who asked for what, which host asked a person, the answer, and what the call did. */
export interface ApprovalStory {
  readonly message?: {
    readonly seq: number;
    readonly at: number;
    readonly sender: Sender;
    readonly actor: string;
    readonly text: string;
  };
  /** The commit that asks a person. */
  readonly askedSeq?: number;
  readonly host?: string;
  readonly answer?: { readonly verdict: 'granted' | 'denied' | 'expired'; readonly by: string; readonly at: number };
  readonly result?: { readonly outcome: string; readonly text: string; readonly at: number };
}

/** The story of an approval in a session's events, which are in order. */
export const storyOf = (events: readonly NatterEvent[], approvalId: string): ApprovalStory => {
  let story: ApprovalStory = {};
  let callId: string | undefined;
  for (const event of events) {
    if (event.type === 'approval_requested' && event.approvalId === approvalId) {
      callId = event.callId;
      const asked = events.find((one) => one.type === 'user_message' && one.turnId === event.turn.id);
      story = { ...story, askedSeq: event.seq, host: hostOf(event.actor) };
      if (asked?.type !== 'user_message') continue;
      const { sender, text } = asked.message;
      story = { ...story, message: { seq: asked.seq, at: asked.at, sender, actor: asked.actor, text } };
    }
    if (event.type === 'approval_resolved' && event.approvalId === approvalId) {
      callId = event.callId ?? callId;
      story = { ...story, answer: { verdict: event.verdict, by: event.by, at: event.at } };
    }
    if (event.type === 'tool_result' && event.callId === callId && story.answer !== undefined)
      story = { ...story, result: { outcome: event.outcome, text: event.text, at: event.at } };
  }
  return story;
};
