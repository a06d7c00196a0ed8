import pc from 'picocolors';
import type { NatterEvent, StreamItem } from '../../../shared/client/main.ts';
import { turnsBegunBy } from '../../../shared/domain/projections/readable-events.ts';
import { endedBy } from '../../../shared/domain/projections/turn-end.ts';
import { nextStep } from '../../../shared/domain/prompt/model-failure.ts';
import { messageText } from '../../../shared/domain/prompt/sub-agent-message.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ResetCause } from '../../../shared/domain/values/expiry.ts';
import { decidedBy, personNamed } from '../../../shared/domain/values/person-words.ts';
import { printable } from '../../../shared/kit/scrub.ts';
import { oneLine } from '../terminal.ts';
import { wrapToWidth } from '../text/text-width.ts';
import { type AnswerScreen, AnswerView } from './answer-view.ts';
import { type Question, questionIn } from './question.ts';
import { typedLines } from './typed.ts';

const waitText = ({ position }: EventOf<'turn_queued'>): string =>
  position === 1 ? 'Your message is next, after this answer.' : `Your message waits; it is number ${position} in the queue.`;

const resumedText = ({ turn, step, reason }: EventOf<'turn_resumed'>): string =>
  `The answer was interrupted${reason === undefined ? '' : ` (${reason})`} and ${step === 1 ? 'begins again' : 'goes on'}, attempt ${turn.attempt}.`;

/** Why a session began anew that nobody asked for. */
const resetWords: { readonly [trigger in ResetCause['trigger']]?: string } = {
  daily: 'the daily reset',
  idle: 'it had been idle',
};

type ViewScreen = AnswerScreen & { print(...lines: readonly string[]): void };

/** Shows what a session says: answers as they come, tool calls, questions, notices, and what others write in it. */
export class SessionView {
  readonly #screen: ViewScreen;
  readonly #answers = new Map<string, AnswerView>();
  /** Runs that were begun at this terminal. */
  readonly #own = new Set<string>();
  /** Turns that run or wait. */
  readonly #active = new Set<string>();
  /** Messages, by the turn that answers them, which were shown far above their answer if the turn waited. */
  readonly #messages = new Map<string, NatterEvent & EventOf<'user_message'>>();
  readonly #waiting = new Set<string>();
  /** Arguments of the calls of the running turn, by call. */
  readonly #args = new Map<string, string>();
  /** Who answered approvals that were granted. */
  readonly #allowed = new Map<string, string>();
  /** Turns that began before the chat. */
  readonly #past = new Set<string>();
  /** Sequence of the commit in which an answered call was shown. */
  #answeredAt: number | null = null;
  #asked: Question | null = null;
  /** The actor that the person at the terminal is in the log. */
  #me: string | undefined;
  /** What is shown was recorded before the chat began. */
  #isPast = false;

  constructor(screen: ViewScreen) {
    this.#screen = screen;
  }

  /** The question that waits for an answer. */
  get asked(): Question | null {
    return this.#asked;
  }

  /** The turns that run or wait now. */
  get active(): ReadonlySet<string> {
    return new Set(this.#active);
  }

  /** Something runs that can be stopped. */
  get isBusy(): boolean {
    return this.#active.size > 0;
  }

  /** A message from here became this run. */
  begun(runId: string): void {
    this.#own.add(runId);
    this.#active.add(runId);
  }

  /** Who is at the terminal, as the log names them. */
  signedInAs(actor: string): void {
    this.#me = actor;
  }

  /** Shows an event from before the chat began: what was answered meanwhile is not asked again, and what was stopped says so. */
  showPast(event: NatterEvent): void {
    this.#isPast = true;
    this.#showEvent(event);
    this.#isPast = false;
  }

  show(item: StreamItem): void {
    if (item.type === 'delta') this.#answerOf(item.turn.id).delta(item);
    else if (item.type !== 'gap' && item.type !== 'damage') this.#showEvent(item);
  }

  #showEvent(event: NatterEvent): void {
    switch (event.type) {
      case 'notice':
        this.#active.delete(event.correlationId);
        // What became of the call is on the screen already.
        if (event.notice.code === 'approval' && event.seq === this.#answeredAt) return;
        // It answers a command, and commands are not recorded.
        return this.#isPast ? undefined : this.#say(event.notice.text);
      case 'user_message':
        return this.#heard(event);
      case 'assistant_message':
        this.#answerOf(event.turn.id).answer(event.text);
        return event.interim ? undefined : this.#end([event.turn.id]);
      case 'model_step':
        this.#active.add(event.turn.id);
        for (const { callId, arguments: args } of event.calls ?? []) this.#args.set(callId, args);
        return event.finish === 'continue' && !event.flush
          ? this.#answerOf(event.turn.id).step(event.step, event.text)
          : undefined;
      case 'tool_call_started':
        if (event.approvalId !== undefined) this.#answeredAt = event.seq;
        return this.#note(`${this.#call(event)}${this.#allowed.get(event.approvalId ?? '') ?? ''}`);
      case 'tool_result':
        return this.#result(event);
      case 'turn_queued':
        this.#active.add(event.turn.id);
        this.#waiting.add(event.turn.id);
        return this.#own.has(event.turn.id) ? this.#say(waitText(event), pc.dim) : undefined;
      case 'turn_started':
        for (const { id } of event.merged ?? []) this.#active.delete(id);
        this.#active.add(event.turn.id);
        if (this.#isPast) this.#past.add(event.turn.id);
        return this.#repeat(turnsBegunBy(event));
      case 'turn_joined':
        this.#active.delete(event.runId);
        return;
      case 'turn_resumed':
        this.#active.add(event.turn.id);
        // Nothing of it was seen here, and the chat began by saying that it goes on.
        if (this.#isPast || (this.#past.has(event.turn.id) && !this.#answers.has(event.turn.id))) return;
        // The next attempt may say it in other words.
        this.#answerOf(event.turn.id).end();
        return this.#say(resumedText(event), pc.yellow);
      case 'approval_requested': {
        const args = event.callId === undefined ? undefined : this.#args.get(event.callId);
        this.#asked = questionIn(event, args);
        return this.#isPast ? undefined : this.#screen.print(...this.#asked.lines(this.#screen.width));
      }
      case 'approval_resolved':
        if (this.#asked?.approvalId === event.approvalId) this.#asked = null;
        if (event.verdict === 'granted') this.#allowed.set(event.approvalId, ` (allowed ${this.#decider(event)})`);
        return;
      case 'session_reset':
        return this.#reset(event);
      default: {
        const ended = endedBy(event, event.actor === this.#me);
        if (ended === null) return;
        const isKnown = ended.turnIds.some((id) => this.#active.has(id));
        this.#end(ended.turnIds);
        // What is removed from the queue had not begun to ask.
        if (event.type !== 'queue_cleared' && event.type !== 'message_refused') this.#drop();
        // A notice tells the rest.
        const isStop = (event.type === 'turn_aborted' || event.type === 'queue_cleared') && event.reason === '/stop';
        const isTold = isStop && !this.#isPast;
        if (isKnown && !isTold) this.#say(ended.how, event.type === 'turn_completed' ? pc.dim : pc.red);
        const next = event.type === 'turn_failed' && isKnown ? nextStep(event) : null;
        if (next !== null) this.#say(`${next}; ↑ brings the line back`, pc.dim);
      }
    }
  }

  /** What was written elsewhere, or before. Natter's own messages to the model are not for people. */
  #heard(event: NatterEvent & EventOf<'user_message'>): void {
    if (event.message.sender.id === 'natter') return;
    if (event.turnId !== undefined) this.#messages.set(event.turnId, event);
    if (!this.#own.has(event.correlationId)) this.#showMessage(event);
  }

  /** What waited stands above its answer too: others may be between. */
  #repeat(turnIds: readonly string[]): void {
    for (const id of turnIds) {
      const message = this.#messages.get(id);
      if (this.#waiting.delete(id) && message !== undefined && !this.#isPast) this.#showMessage(message);
      this.#messages.delete(id);
    }
  }

  #showMessage({ actor, message }: NatterEvent & EventOf<'user_message'>): void {
    const { text, sender } = message;
    if (sender.name === undefined && actor === this.#me) this.#screen.print(...typedLines(text));
    else this.#say(`${oneLine(personNamed(sender, actor, this.#me), 40)}: ${messageText(message)}`, pc.dim);
  }

  #reset({ cause }: EventOf<'session_reset'>): void {
    const why = resetWords[cause?.trigger ?? 'command'];
    const began = `The session begins anew${why === undefined ? '' : `: ${why}`}.`;
    this.#say(cause?.trigger === 'fork' ? 'The session goes on from an earlier point.' : began, pc.dim);
  }

  #call({ tool, callId }: { readonly tool: string; readonly callId: string }): string {
    return `· ${tool} ${this.#args.get(callId) ?? ''}`;
  }

  #result(event: NatterEvent & EventOf<'tool_result'>): void {
    const { tool, outcome, text } = event;
    if (outcome === 'denied') this.#answeredAt = event.seq;
    // The question showed the call, and is not shown again.
    if (this.#isPast && (outcome === 'denied' || outcome === 'expired')) this.#note(this.#call(event));
    if (outcome !== 'ok') this.#note(`· ${tool}: ${outcome}: ${text}`);
  }

  /** An answer in the chat is by the holder of its token. */
  #decider({ by, actor }: NatterEvent & EventOf<'approval_resolved'>): string {
    return actor === this.#me ? 'by you' : decidedBy(by);
  }

  /** The question went with its turn. */
  #drop(): void {
    if (this.#asked !== null) this.#say(this.#asked.unanswered);
    this.#asked = null;
  }

  #answerOf(turnId: string): AnswerView {
    const known = this.#answers.get(turnId);
    if (known !== undefined) return known;
    const view = new AnswerView(this.#screen);
    this.#answers.set(turnId, view);
    return view;
  }

  #end(turnIds: readonly string[]): void {
    for (const id of turnIds) {
      this.#answers.get(id)?.end();
      for (const set of [this.#answers, this.#active, this.#own, this.#messages, this.#waiting, this.#past]) set.delete(id);
    }
    if (this.#active.size > 0) return;
    this.#args.clear();
    this.#allowed.clear();
  }

  #note(text: string): void {
    this.#screen.print(pc.dim(oneLine(text, this.#screen.width)));
  }

  #say(text: string, colour: (text: string) => string = (same) => same): void {
    this.#screen.print(...wrapToWidth(printable(text), this.#screen.width).map(colour));
  }
}
