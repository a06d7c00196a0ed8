import { afterCommitOf, isOver, type Run, type TrackedRun } from '../../../shared/domain/projections/run.ts';
import { cutOff } from '../../../shared/domain/prompt/call-block.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';
import type { ToolCall, ToolOutcome } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { Answer, type Tokens } from './answer.ts';
import { LiveAnswer } from './live-answer.ts';
import type { VisibleDelta } from './live-text.ts';

/** A request for approval of a tool call. A request without a call of the model gets a call of its own. */
export type AskedCall = Pick<EventOf<'approval_requested'>, 'approvalId' | 'action' | 'tool' | 'expiresAt'> & {
  readonly asks: 'run' | 'retry';
  readonly callId: string;
};

/**
 * What happens in a run, in the order of the stream. A step's text and calls come between `step_begun` and `step_ended`, its text between
 * `text_begun` and `text_ended`; `messageId` names the step's message. A call is reported when it starts, needs approval or ends, not while it
 * waits behind others. A result may come after its step.
 */
export type RunEvent =
  | { readonly type: 'step_begun' | 'step_ended'; readonly step: number; readonly messageId: string }
  | { readonly type: 'text_begun' | 'text_ended'; readonly messageId: string }
  | { readonly type: 'text'; readonly messageId: string; readonly text: string }
  | ({ readonly type: 'call'; readonly messageId: string } & ToolCall)
  | RunResult
  | ({ readonly type: 'approval' } & AskedCall)
  | { readonly type: 'handed_over' }
  | RunEnd;

/** `wasAsked`: the call needed approval. `text` is what the model sees, the first page of a long output. */
export interface RunResult {
  readonly type: 'result';
  readonly callId: string;
  readonly outcome: ToolOutcome;
  readonly text: string;
  readonly wasAsked: boolean;
}

/** The last event, as `Answer` has it: the run is over, or awaits approval or results. `earlier`: tokens that an earlier stream reported. */
export interface RunEnd {
  readonly type: 'end';
  readonly run: Extract<Run, { status: 'ok' | 'error' | 'awaiting_approval' | 'awaiting_results' }>;
  readonly asked: AskedCall | null;
  readonly sessionId: string;
  readonly model: string | null;
  readonly tokens: Tokens;
  readonly earlier: Tokens;
  readonly isTruncated: boolean;
}
const none: Tokens = { input: 0, output: 0, total: 0 };

type Called = ToolCall & { readonly messageId: string; readonly step: number };

/**
 * Turns the recorded commits of a run and its live text into run events. With `answered`, events start after that approval is answered: an
 * earlier stream had those before it. Throws `NatterError('unavailable')` if the record differs from what was already sent.
 */
export class RunEventStream {
  readonly #runId: string;
  readonly #answer: Answer;
  readonly #told = new LiveAnswer('');
  readonly #calls = new Map<string, Called & { isTold: boolean; isAsked: boolean; isBegun: boolean }>();
  /** Calls that have not ended; the next step starts after them. */
  readonly #open = new Set<string>();
  #answered: string | undefined;
  #traced: TrackedRun;
  #asked: AskedCall | null = null;
  #saysNothing = true;
  #model: string | null = null;
  #earlier = none;
  #sessionId = '';
  /** The current step. */
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
  /** The turn whose live text to send now. */
  get turnId(): string | null {
    return this.#answered === undefined && this.isBegun ? this.#traced.turnId : null;
  }

  /** The events of a piece of live text. A text that has overtaken the record of earlier steps is sent with its own record. */
  live(delta: VisibleDelta): readonly RunEvent[] {
    if (delta.step === this.#answer.step + 1 && this.#open.size === 0) this.#say(this.#told.live(delta), delta.step);
    return this.#taken();
  }

  /** The events of the session's next commit. */
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

  /** The end of the stream while the run awaits approval or results. */
  pause(): readonly RunEvent[] {
    const { run } = this.#traced;
    if (run?.status === 'awaiting_approval' || run?.status === 'awaiting_results') this.#end(run);
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
      case 'client_results_awaited':
        return void this.#events.push({ type: 'handed_over' });
      case 'approval_requested':
        if (event.deferred === undefined) this.#ask(event);
        return;
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
    const { messageId, tool, arguments: given, client } = call;
    this.#events.push({ type: 'call', messageId, callId, tool, arguments: given, ...(client && { client }) });
  }

  #result({ callId, outcome, text }: EventOf<'tool_result'>): void {
    const call = this.#calls.get(callId);
    // Calls of memory steps are not shown.
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

  /** The rest of the run starts here. */
  #unmute(): void {
    this.#answered = undefined;
    this.#earlier = this.#answer.tokens;
    [this.#events, this.#step, this.#isTextOpen] = [[], 0, false];
  }

  /** Natter's own text, without a text from a step, is sent as a step's text. */
  #end(run: RunEnd['run']): void {
    if (this.#answered !== undefined) this.#unmute();
    if (run.status === 'ok' && this.#saysNothing) this.#say(this.#answer.text, Math.max(1, this.#step));
    if (run.status === 'ok' || run.status === 'error') this.#cutOff();
    this.#close();
    const { tokens, isTruncated } = this.#answer;
    const asked = run.status === 'awaiting_approval' ? this.#asked : null;
    const facts = { sessionId: this.#sessionId, model: this.#model, tokens, earlier: this.#earlier, isTruncated };
    this.#events.push({ type: 'end', run, asked, ...facts });
  }

  /** Ends the reported calls that the turn has cut off: a page would wait for them, or ask again and again. */
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

const restarted = 'the answer was restarted after part of it was sent; request it again from the start';
