import pc from 'picocolors';
import type { NatterEvent, PendingApproval, StreamItem } from '../../../shared/client/main.ts';
import { nextStep } from '../../../shared/domain/prompt/model-failure.ts';
import { printable } from '../../../shared/kit/scrub.ts';
import { oneLine } from '../terminal.ts';
import { wrapToWidth } from '../text/text-width.ts';
import { type AnswerScreen, AnswerView } from './answer-view.ts';
import { type Question, questionIn, questionLines } from './question.ts';
import { endedBy } from './turn-end.ts';

type ViewScreen = AnswerScreen & { print(...lines: readonly string[]): void };

/** Shows what a session says: answers as they come, tool calls, questions, notices, and what others write in it. */
export class SessionView {
  readonly #screen: ViewScreen;
  readonly #answers = new Map<string, AnswerView>();
  /** Runs that were begun at this terminal. */
  readonly #own = new Set<string>();
  /** Turns that run or wait. */
  readonly #active = new Set<string>();
  /** Arguments of the calls of the running turn, by call. */
  readonly #args = new Map<string, string>();
  #asked: Question | null = null;

  constructor(screen: ViewScreen) {
    this.#screen = screen;
  }

  /** The question that waits for an answer. */
  get asked(): Question | null {
    return this.#asked;
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

  /** A turn that ran before the chat began. */
  runsAlready(turnId: string): void {
    this.#active.add(turnId);
  }

  /** Shows a question that was asked before the chat began. */
  asks(pending: PendingApproval): void {
    this.#asked = questionIn(pending);
    this.#screen.print(...questionLines(pending, this.#asked, { width: this.#screen.width }));
  }

  show(item: StreamItem): void {
    if (item.type === 'delta') this.#answerOf(item.turn.id).delta(item);
    else if (item.type !== 'gap' && item.type !== 'damage') this.#showEvent(item);
  }

  #showEvent(event: NatterEvent): void {
    switch (event.type) {
      case 'notice':
        this.#active.delete(event.correlationId);
        return this.#say(event.notice.text);
      case 'user_message':
        return this.#heard(event.correlationId, event.message);
      case 'assistant_message':
        this.#answerOf(event.turn.id).answer(event.text);
        return event.interim ? undefined : this.#end([event.turn.id]);
      case 'model_step':
        for (const { callId, arguments: args } of event.calls ?? []) this.#args.set(callId, args);
        return event.finish === 'continue' && !event.flush
          ? this.#answerOf(event.turn.id).step(event.step, event.text)
          : undefined;
      case 'tool_call_started':
        return this.#note(`· ${event.tool} ${this.#args.get(event.callId) ?? ''}`);
      case 'tool_result':
        return event.outcome === 'ok' ? undefined : this.#note(`· ${event.tool}: ${event.outcome}: ${event.text}`);
      case 'turn_queued':
        this.#active.add(event.turn.id);
        return this.#own.has(event.turn.id) ? this.#say('Queued behind the running turn.', pc.dim) : undefined;
      case 'turn_started':
        for (const { id } of event.merged ?? []) this.#active.delete(id);
        this.#active.add(event.turn.id);
        return;
      case 'turn_joined':
        this.#active.delete(event.runId);
        return;
      case 'approval_requested': {
        this.#asked = questionIn(event);
        const args = event.callId === undefined ? undefined : this.#args.get(event.callId);
        return this.#screen.print(...questionLines(event, this.#asked, { width: this.#screen.width, args }));
      }
      case 'approval_resolved':
        if (this.#asked?.approvalId === event.approvalId) this.#asked = null;
        return;
      default: {
        const ended = endedBy(event);
        if (ended === null) return;
        const isKnown = ended.turnIds.some((id) => this.#active.has(id));
        this.#end(ended.turnIds);
        // What is removed from the queue had not begun to ask.
        if (event.type !== 'queue_cleared' && event.type !== 'message_refused') this.#asked = null;
        // A notice tells the rest.
        if (isKnown && !(event.type === 'turn_aborted' && event.reason === '/stop'))
          this.#say(ended.how, event.type === 'turn_completed' ? pc.dim : pc.red);
        const next = event.type === 'turn_failed' && isKnown ? nextStep(event.code) : null;
        if (next !== null) this.#say(`${next}; ↑ brings the line back`, pc.dim);
      }
    }
  }

  /** What others write in the session. Natter's own messages to the model are not for people. */
  #heard(
    runId: string,
    { text, sender }: { readonly text: string; readonly sender: { id: string; name?: string | undefined } },
  ): void {
    if (this.#own.has(runId) || sender.id === 'natter') return;
    this.#say(`${oneLine(sender.name ?? sender.id, 40)}: ${text}`, pc.dim);
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
      for (const set of [this.#answers, this.#active, this.#own]) set.delete(id);
    }
    if (this.#active.size === 0) this.#args.clear();
  }

  #note(text: string): void {
    this.#screen.print(pc.dim(oneLine(text, this.#screen.width)));
  }

  #say(text: string, colour: (text: string) => string = (same) => same): void {
    this.#screen.print(...wrapToWidth(printable(text), this.#screen.width).map(colour));
  }
}
