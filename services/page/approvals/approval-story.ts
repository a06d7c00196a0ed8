import type { NatterEvent, Sender } from '../../../shared/client/main.ts';
import { hostOf } from '../parts/host.ts';
import { type Said, saidIn } from '../past/said.ts';

/** What the log of a session tells of one approval: who asked for what, which host asked a person, and what was before. */
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
  /** The last of what was said before the question, oldest first, without that message. */
  readonly said?: readonly Said[];
  /** When the answer began that asks. */
  readonly startedAt?: number;
  /** The calls that this answer made before, oldest first. */
  readonly calls?: readonly { readonly tool: string; readonly outcome: string }[];
}

const saidLines = 4;

/** What was said in events of one session, which are in order: without what was before a reset, or what a fork left behind. */
const saidAmong = (events: readonly NatterEvent[]): readonly Said[] => {
  let said: Said[] = [];
  for (const event of events)
    if (event.type !== 'session_reset') said.push(...saidIn({ ...event, events: [event] }));
    else {
      const { seq: until = 0 } = event.forkedFrom ?? {};
      said = said.filter(({ seq }) => seq <= until);
    }
  return said;
};

/** What was before a question: it is asked about that. */
const beforeQuestion = (
  events: readonly NatterEvent[],
  { turn, message }: { readonly turn: string; readonly message: number | undefined },
): Pick<ApprovalStory, 'said' | 'startedAt' | 'calls'> => {
  const said = saidAmong(events).filter(({ seq }) => seq !== message);
  const started = events.find((event) => event.type === 'turn_started' && event.turn.id === turn);
  return {
    said: said.slice(-saidLines),
    ...(started !== undefined && { startedAt: started.at }),
    calls: events.flatMap((event) =>
      event.type === 'tool_result' && event.turn.id === turn ? [{ tool: event.tool, outcome: event.outcome }] : [],
    ),
  };
};

/** The story of an approval in a session's events, which are in order. */
export const storyOf = (events: readonly NatterEvent[], approvalId: string): ApprovalStory => {
  const at = events.findIndex((event) => event.type === 'approval_requested' && event.approvalId === approvalId);
  const event = events[at];
  if (event?.type !== 'approval_requested') return {};
  const turn = event.turn.id;
  const asked = events.find((one) => one.type === 'user_message' && one.turnId === turn);
  const before = beforeQuestion(events.slice(0, at), { turn, message: asked?.seq });
  const story = { askedSeq: event.seq, host: hostOf(event.actor), ...before };
  if (asked?.type !== 'user_message') return story;
  const { sender, text } = asked.message;
  return { ...story, message: { seq: asked.seq, at: asked.at, sender, actor: asked.actor, text } };
};
