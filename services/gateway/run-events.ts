import { afterCommitOf, isOver, type Run, type TrackedRun } from '../../shared/domain/projections/run.ts';
import { cutOff } from '../../shared/domain/prompt/call-block.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { EventOf, SessionEvent } from '../../shared/domain/session/events.ts';
import type { ToolCall, ToolOutcome } from '../../shared/domain/values/types.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { Answer, type Tokens } from './answer.ts';
import { LiveAnswer } from './live-answer.ts';
import type { VisibleDelta } from './live-text.ts';

/** A person is asked about a call. Where the question is about no call of the model's, it has a call of its own. */
export type AskedCall = Pick<EventOf<'approval_requested'>, 'approvalId' | 'action' | 'tool' | 'expiresAt'> & {
  readonly asks: 'run' | 'retry';
  readonly callId: string;
};

/**
 * What happens in a run, in the order in which people are told. What a step says and calls is between `step_begun` and `step_ended`, its text
 * between `text_begun` and `text_ended`; `messageId` names what the step says. A call is told when it begins, is asked about or ends: of
 * those that wait behind others nothing is known. A result may come after its step.
 */
export type RunEvent =
  | { readonly type: 'step_begun' | 'step_ended'; readonly step: number; readonly messageId: string }
  | { readonly type: 'text_begun' | 'text_ended'; readonly messageId: string }
  | { readonly type: 'text'; readonly messageId: string; readonly text: string }
  | ({ readonly type: 'call'; readonly messageId: string } & ToolCall)
  | RunResult
  | ({ readonly type: 'approval' } & AskedCall)
  | RunEnd;

/** `wasAsked`: a person was asked whether it may run. `text` is what the model sees, the first page of a long output. */
export interface RunResult {
  readonly type: 'result';
  readonly callId: string;
  readonly outcome: ToolOutcome;
  readonly text: string;
  readonly wasAsked: boolean;
}

/** Nothing more comes: the run is over, or waits for a person. `tokens` are those of the run so far, `earlier` what an earlier stream told. */
export interface RunEnd {
  readonly type: 'end';
  readonly run: Extract<Run, { status: 'ok' | 'error' | 'awaiting_approval' }>;
  readonly asked: AskedCall | null;
  readonly sessionId: string;
  readonly model: string | null;
  readonly tokens: Tokens;
  readonly earlier: Tokens;
}

const none: Tokens = { input: 0, output: 0, total: 0 };

type Called = ToolCall & { readonly messageId: string; readonly step: number };

/**
 * Makes run events of what is recorded of a run and of its live text. With `answered` nothing is told until that approval is: the rest of a
 * run whose beginning an earlier stream has told. Throws `NatterError('unavailable')` where what was told turns out to be otherwise.
 */
export class RunTeller {
  readonly #runId: string;
  readonly #answer: Answer;
  readonly #told = new LiveAnswer('');
  readonly #calls = new Map<string, Called & { isTold: boolean; isAsked: boolean; isBegun: boolean }>();
  /** Calls that have not ended: the next step is not before they have. */
  readonly #open = new Set<string>();
  #answered: string | undefined;
  #traced: TrackedRun;
  #asked: AskedCall | null = null;
  #saysNothing = true;
  #model: string | null = null;
  #earlier = none;
  #sessionId = '';
  /** The one that is being told. */
  #step = 0;
  #isTextOpen = false;
  #events: RunEvent[] = [];

  constructor(runId: string, answered?: string) {
    this.#runId = runId;
    this.#answer = new Answer(runId);
    this.#traced = { turnId: runId, run: null };
    this.#answered = answered;
  }

  /** The log has the run. */
  get isBegun(): boolean {
    return this.#traced.run !== null;
  }
  /** Whose live text is to be told now. */
  get turnId(): string | null {
    return this.#answered === undefined && this.isBegun ? this.#traced.turnId : null;
  }

  /** What a piece of its live text adds. A text that is here before what is recorded of the steps before it comes with its record. */
  live(delta: VisibleDelta): readonly RunEvent[] {
    if (delta.step === this.#answer.step + 1 && this.#open.size === 0) this.#say(this.#told.live(delta), delta.step);
    return this.#taken();
  }

  /** What the next commit of its session adds. */
  take(commit: RecordedCommit): readonly RunEvent[] {
    this.#traced = afterCommitOf(this.#traced, commit, this.#runId);
    this.#sessionId = commit.sessionId;
    const { run, turnId } = this.#traced;
    this.#answer.take(commit, this.#traced, (text, step) => this.#say(this.#told.step(text, step), step));
    if (this.#told.isBroken) throw new NatterError('unavailable', restarted);
    for (const event of commit.events) if ('turn' in event && event.turn.id === turnId) this.#note(event);
    if (isOver(run)) this.#end(run);
    return this.#taken();
  }

  /** The end of what can be told while a person is asked. */
  pause(): readonly RunEvent[] {
    if (this.#traced.run?.status === 'awaiting_approval') this.#end(this.#traced.run);
    return this.#taken();
  }

  #note(event: SessionEvent): void {
    switch (event.type) {
      case 'model_step': {
        this.#model = event.model;
        const step = { step: event.step, messageId: this.#idOf(event.step), isTold: false, isAsked: false, isBegun: false };
        for (const call of event.flush ? [] : (event.calls ?? [])) {
          this.#calls.set(call.callId, { ...call, ...step });
          this.#open.add(call.callId);
        }
        return;
      }
      case 'tool_call_started':
        return this.#call(event.callId, true);
      case 'tool_result':
        return this.#result(event);
      case 'approval_requested':
        return this.#ask(event);
      case 'approval_resolved':
        if (event.approvalId === this.#answered) this.#unmute();
        return;
      default:
        return;
    }
  }

  #call(callId: string, isBegun = false): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) call.isBegun ||= isBegun;
    if (call === undefined || call.isTold) return;
    call.isTold = true;
    this.#begin(call.step);
    this.#closeText();
    const { messageId, tool, arguments: given } = call;
    this.#events.push({ type: 'call', messageId, callId, tool, arguments: given });
  }

  #result({ callId, outcome, text }: EventOf<'tool_result'>): void {
    const call = this.#calls.get(callId);
    // Calls of steps that serve the memory are nobody's to see.
    if (call === undefined) return;
    this.#open.delete(callId);
    this.#call(callId);
    this.#tellResult({ callId, outcome, text, wasAsked: call.isAsked });
  }

  #ask({ approvalId, action, tool, expiresAt, asks = 'run', callId = approvalId }: EventOf<'approval_requested'>): void {
    const step = Math.max(1, this.#step);
    const own = { callId, tool: tool ?? 'approval', arguments: JSON.stringify({ action }), isTold: false, isBegun: false };
    const call = this.#calls.get(callId) ?? { ...own, step, messageId: this.#idOf(step) };
    this.#calls.set(callId, { ...call, isAsked: true });
    this.#call(callId);
    this.#asked = { approvalId, action, tool: call.tool, expiresAt, asks, callId };
    this.#events.push({ type: 'approval', ...this.#asked });
  }

  /** The rest of the run begins. */
  #unmute(): void {
    this.#answered = undefined;
    this.#earlier = this.#answer.tokens;
    [this.#events, this.#step, this.#isTextOpen] = [[], 0, false];
  }

  /** What Natter says where no step says anything is told as a step's text. */
  #end(run: RunEnd['run']): void {
    if (this.#answered !== undefined) this.#unmute();
    if (run.status === 'ok' && this.#saysNothing) this.#say(this.#answer.text, Math.max(1, this.#step));
    if (run.status !== 'awaiting_approval') this.#cutOff();
    this.#close();
    const { tokens } = this.#answer;
    const asked = run.status === 'awaiting_approval' ? this.#asked : null;
    const [sessionId, model, earlier] = [this.#sessionId, this.#model, this.#earlier];
    this.#events.push({ type: 'end', run, asked, sessionId, model, tokens, earlier });
  }

  /** A call that was told and has not ended when its turn does never will: a page would wait for it, or ask for it again and again. */
  #cutOff(): void {
    for (const callId of this.#open) {
      const call = this.#calls.get(callId);
      if (call?.isTold) this.#tellResult({ callId, ...cutOff(call.isBegun), wasAsked: call.isAsked });
    }
    this.#open.clear();
  }

  #tellResult(result: Omit<RunResult, 'type'>): void {
    this.#closeText();
    this.#events.push({ type: 'result', ...result });
  }

  #say(text: string, step: number): void {
    if (text === '') return;
    this.#saysNothing = false;
    this.#begin(step);
    const messageId = this.#idOf(step);
    if (!this.#isTextOpen) this.#events.push({ type: 'text_begun', messageId });
    this.#isTextOpen = true;
    this.#events.push({ type: 'text', messageId, text });
  }

  #begin(step: number): void {
    if (this.#step === step) return;
    this.#close();
    this.#step = step;
    this.#events.push({ type: 'step_begun', step, messageId: this.#idOf(step) });
  }

  #close(): void {
    this.#closeText();
    if (this.#step > 0) this.#events.push({ type: 'step_ended', step: this.#step, messageId: this.#idOf(this.#step) });
    this.#step = 0;
  }

  #closeText(): void {
    if (this.#isTextOpen) this.#events.push({ type: 'text_ended', messageId: this.#idOf(this.#step) });
    this.#isTextOpen = false;
  }

  #idOf(step: number): string {
    return `${this.#traced.turnId}:${step}`;
  }

  #taken(): readonly RunEvent[] {
    const events = this.#answered === undefined ? this.#events : [];
    this.#events = [];
    return events;
  }
}

const restarted = 'the answer was begun anew after a part of it was sent; ask for it again from its beginning';
