import { isComplete, openBlock, resultMessage } from '../../../shared/domain/prompt/call-block.ts';
import type { ConversationMessage, HeardMessage, TurnView } from '../../../shared/domain/prompt/conversation-message.ts';
import { deliveryReportMessage } from '../../../shared/domain/prompt/delivery-report.ts';
import type { ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import { startsAnew } from '../../../shared/domain/session/chain.ts';
import type { CallResult } from '../../../shared/domain/session/commands.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';
import { forkBaseOf, mayFollow } from '../../../shared/domain/session/fold/evolve.ts';
import { assert } from '../../../shared/kit/assert.ts';
import { detachedString } from '../../../shared/kit/text/detached-string.ts';
import { ConversationMessageList } from './conversation-message-list.ts';
import {
  askAnew,
  closed,
  detachedCalls,
  flushMessages,
  type RunningTurn,
  reviseTurn,
  runningTurn,
  signedReasoning,
  userMessage,
  viewOfTurn,
  WaitingMessages,
  withResults,
} from './running-turn.ts';

/**
 * What a model sees of one session: a fold of its commits. Reading may start at any commit up to `Position.contextSeq`; `isWhole` and
 * `view` tell if it started early enough. A message that asks for a turn appears when its turn starts, after the answers given while it
 * waited, and never if the turn never starts (A5/70, A11/125). A message that joins a turn appears with the step that read it (B6); any
 * other appears at once (A5/69). A step with tool calls appears when every call has its result.
 */
export class Conversation {
  readonly #said = new ConversationMessageList();
  readonly #waiting = new WaitingMessages();
  #turn: RunningTurn | null = null;
  #counted: TurnView['counted'] = null;
  #at: Pick<RecordedCommit, 'rev' | 'seq'> = { rev: 0, seq: 0 };
  #firstRev = 0;
  /** Where commits are lost that nobody has decided about (F13). */
  #hole: string | null = null;
  /** The revision from which commits are needed. */
  #neededRev = 1;

  get rev(): number {
    return this.#at.rev;
  }
  get seq(): number {
    return this.#at.seq;
  }
  get characters(): number {
    return this.#said.characters + this.#waiting.characters;
  }
  /** False if reading started too late. */
  get isWhole(): boolean {
    return this.#firstRev <= this.#neededRev;
  }

  /** True if this commit can be added next. */
  isNext(commit: RecordedCommit): boolean {
    return this.#firstRev === 0 || mayFollow(commit, this.rev);
  }

  add(commit: RecordedCommit): void {
    // What is lost is not waited for.
    if (startsAnew(commit)) [this.#hole, this.#neededRev] = [null, Math.max(this.#neededRev, this.#firstRev)];
    if (!this.isNext(commit)) this.#hole = `rev ${commit.rev} follows rev ${this.rev} (I3)`;
    if (this.#firstRev === 0) this.#firstRev = commit.rev;
    const goesOn = startsAnew(commit) || forkBaseOf(commit)?.rev === this.rev;
    this.#at = { rev: commit.rev, seq: commit.seq };
    for (const [index, event] of commit.events.entries()) this.#hear(event, `${commit.seq}.${index}`, goesOn);
    if (this.#said.trim(this.#turn?.id)) this.#counted = null;
  }

  /** What the running turn sees. `null` if it is not running or reading started after its messages. Throws `AssertionError` at a hole. */
  view(turnId: string, held: readonly CallResult[] = []): TurnView | null {
    assert(this.#hole === null, this.#hole ?? '');
    if (this.#turn?.id !== turnId || !this.#turn.isWhole) return null;
    const { turn, messages, later } = withResults(this.#turn, held);
    const unheard = turn.block === null ? turn.joined.slice(turn.heard) : [];
    const closes = messages.map((message) => this.#inTurn(turn, message));
    return {
      ...viewOfTurn(turn),
      said: [...this.#said.items, ...closes, ...later, ...unheard.map((message) => this.#asking(turn, message))],
      ...{ heard: turn.heard + unheard.length, counted: this.#counted },
      ...this.#at,
      neededSeq: Math.min(turn.fromSeq, ...Array.from(this.#waiting.values(), ({ seq }) => seq)),
    };
  }

  #hear(event: SessionEvent, id: string, goesOn: boolean): void {
    switch (event.type) {
      case 'session_reset':
        return event.forkedFrom ? this.#branch(goesOn) : this.#begin(event.keepsQueue);
      case 'session_opened':
      case 'session_deleted':
        return this.#begin();
      case 'user_message':
        return this.#remember(event, id);
      case 'message_edited':
      case 'message_withdrawn':
        return this.#revise(event);
      case 'queue_cleared':
        return event.turnIds.forEach((turnId) => void this.#waiting.delete(turnId));
      case 'turn_started':
        return this.#start(event);
      case 'turn_joined':
        return this.#join(event);
      case 'model_step':
        return this.#step(event);
      case 'client_results_received':
        return askAnew(this.#turn, event);
      case 'tool_call_started':
        return void this.#turn?.block?.begun.add(event.callId);
      case 'tool_result':
        return this.#result(event);
      case 'assistant_message':
        return this.#answer(event.text);
      case 'delivery_reported':
        if (event.kind === 'assistant_message' && !event.past) this.#append({ message: deliveryReportMessage(event) });
        return;
      case 'context_compacted':
        return this.#compact(event);
      case 'turn_completed':
      case 'turn_failed':
      case 'turn_aborted':
        return this.#end();
      default:
        return;
    }
  }

  /** A generation starts. Nothing of the previous one is visible (A4/53) except, with `keepsQueue`, the messages of queued turns. */
  #begin(keepsQueue = false, neededRev = this.rev): void {
    this.#said.clear();
    [this.#counted, this.#turn] = [null, null];
    if (!keepsQueue) this.#waiting.clear();
    this.#neededRev = neededRev;
  }

  /** Continues from the commit read last if `goesOn`; otherwise from one that was not kept (B21). */
  #branch(goesOn: boolean): void {
    if (!goesOn) return this.#begin(false, 0);
    this.#end();
    this.#waiting.clear();
  }

  #remember({ message, turnId }: EventOf<'user_message'>, of: string): void {
    const kept: HeardMessage = { ...message, text: detachedString(message.text), of };
    if (turnId !== undefined) return void this.#waiting.set(detachedString(turnId), { message: kept, seq: this.seq });
    this.#append({ heard: kept, message: userMessage(kept) });
  }

  #append(entry: Pick<ConversationMessage, 'heard' | 'message'>): void {
    const said: ConversationMessage = { ...this.#at, ...entry };
    if (this.#turn?.block) this.#turn.later.push(said);
    else this.#said.add(said);
  }

  /** What was said is replaced wherever it waits to be read, or was read; a summary keeps what it says. */
  #revise(event: EventOf<'message_edited' | 'message_withdrawn'>): void {
    this.#waiting.revise(event);
    if (this.#turn) reviseTurn(this.#turn, event);
    if (this.#said.revise(event)) this.#counted = null;
  }

  #start({ turn: { id, task }, merged = [] }: EventOf<'turn_started'>): void {
    const ids = [id, ...merged.map((turn) => turn.id)];
    const asked = ids.flatMap((turnId) => this.#waiting.take(turnId) ?? []);
    const turn = runningTurn(detachedString(id), {
      fromSeq: Math.min(this.seq, ...asked.map(({ seq }) => seq)),
      asked: asked.map(({ message }) => message),
      missing: ids.length - asked.length,
      task: task ? (task.instructions ?? '') : null,
    });
    this.#turn = turn;
    for (const message of turn.asked) this.#said.add(this.#asking(turn, message));
  }

  #join({ runId }: EventOf<'turn_joined'>): void {
    const waiting = this.#waiting.take(runId);
    if (waiting) this.#turn?.joined.push(waiting.message);
  }

  #asking({ id, fromSeq }: RunningTurn, message: HeardMessage): ConversationMessage {
    return { rev: this.rev, seq: fromSeq, turnId: id, asks: true, heard: message, message: userMessage(message) };
  }

  /** The final step becomes the answer. A flush step is visible only to the flush. */
  #step({ text, calls = [], finish, heard = 0, flush, usage, model, reasoning }: EventOf<'model_step'>): void {
    const turn = this.#turn;
    if (turn === null) return;
    if (!flush) this.#hearJoined(turn, heard);
    const made = detachedCalls(calls);
    turn.calls = new Map(made.map((call) => [call.callId, call]));
    turn.flushing = flush === true && made.length > 0;
    if (flush) {
      turn.flush = flushMessages(turn, made.length > 0 ? null : detachedString(text));
    } else {
      const { inputTokens, outputTokens, estimated = false } = usage;
      const messages = this.#said.items.length + (made.length > 0 || text !== '' ? 1 : 0);
      this.#counted = estimated ? null : { tokens: inputTokens + outputTokens, messages };
      if (made.length === 0 && finish === 'continue') this.#answer(text);
    }
    if (made.length > 0) turn.block = openBlock(detachedString(text), made, signedReasoning({ model, reasoning }));
  }

  #hearJoined(turn: RunningTurn, heard: number): void {
    for (const message of turn.joined.slice(turn.heard, heard)) this.#said.add(this.#asking(turn, message));
    [turn.heard, turn.asksAnew] = [Math.max(turn.heard, Math.min(heard, turn.joined.length)), false];
  }

  #answer(text: string): void {
    if (text !== '') this.#said.add(this.#inTurn(this.#turn, { role: 'assistant', text: detachedString(text) }));
  }

  #inTurn(turn: RunningTurn | null, message: ModelMessage): ConversationMessage {
    return { rev: this.rev, seq: turn?.fromSeq ?? this.seq, ...(turn && { turnId: turn.id }), message };
  }

  #result(event: EventOf<'tool_result'>): void {
    const block = this.#turn?.block;
    if (!block?.calls.some(({ callId }) => callId === event.callId)) return;
    block.results.set(detachedString(event.callId), resultMessage(event, detachedString));
    if (isComplete(block)) this.#closeBlock();
  }

  #closeBlock(): void {
    if (!this.#turn?.block) return;
    const { turn, messages, later } = closed(this.#turn, this.#turn.block);
    this.#turn = turn;
    for (const message of messages) this.#said.add(this.#inTurn(turn, message));
    for (const said of later) this.#said.add({ ...said, rev: this.rev });
  }

  /** Messages that joined a turn and were not read before it ended are visible from the next turn on. */
  #end(): void {
    this.#closeBlock();
    if (this.#turn) this.#hearJoined(this.#turn, this.#turn.joined.length);
    this.#turn = null;
  }

  #compact({ summary, throughRev }: EventOf<'context_compacted'>): void {
    this.#said.summarise(detachedString(summary), { throughRev, seq: this.seq, turnId: this.#turn?.id });
    this.#counted = null;
    this.#neededRev = throughRev + 1;
    if (this.#turn) this.#turn.flush = [];
  }
}
