import pc from 'picocolors';
import type { NatterClient, NatterEvent, StreamItem } from '../../../shared/client/main.ts';
import { questionOf } from '../../../shared/domain/routing/approval-text.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { Signal } from '../../../shared/kit/signal.ts';
import type { Terminal } from '../terminal.ts';
import { endedBy, RunView, type Screen } from './run-view.ts';

/** A person's view of a session: sends lines, and shows their answers and whatever else the session says. */
export class ChatView {
  readonly #terminal: Terminal;
  readonly #client: NatterClient;
  readonly #key: string;
  readonly #prompt: () => void;
  /** The messages sent here that have no answer yet, by the turn that answers them. */
  readonly #views = new Map<string, RunView>();
  readonly #screen: Screen;
  readonly #changed = new Signal();
  /** Events wait for this: until the run of the last message is known, they cannot be assigned to it. */
  #posting: Promise<unknown> = Promise.resolve();
  #isSending = false;
  #isPrompted = false;
  #hasEnded = false;

  /** `prompt` asks for the next line. */
  constructor(terminal: Terminal, client: NatterClient, key: string, prompt: () => void) {
    this.#terminal = terminal;
    this.#client = client;
    this.#key = key;
    this.#prompt = prompt;
    this.#screen = { out: (line) => this.#output().out(line), write: (text) => this.#output().write(text) };
  }

  prompt(): void {
    this.#isPrompted = true;
    this.#prompt();
  }

  /** Sends a line and shows its run until it is answered or has to wait. */
  async send(text: string, signal: AbortSignal): Promise<void> {
    this.#isPrompted = false;
    this.#isSending = true;
    const posted = this.#client.sessions.post(this.#key, text);
    this.#posting = posted.then(({ runId }) => this.#views.set(runId, new RunView(this.#screen))).catch(() => {});
    try {
      await posted;
      await this.#posting;
      while (!this.#isSettled() && !signal.aborted) await this.#changed.wait(signal);
    } catch (error) {
      this.#terminal.note(pc.red(errorMessage(error)));
    } finally {
      this.#isSending = false;
    }
  }

  /** Shows the events of the session until they end. */
  async follow(items: AsyncIterable<StreamItem>): Promise<void> {
    try {
      for await (const item of items) {
        await this.#posting;
        this.#show(item);
        this.#changed.notify();
        if (!this.#isPrompted && !this.#isSending && this.#isSettled()) this.prompt();
      }
    } catch (error) {
      this.#terminal.note(pc.red(errorMessage(error)));
    } finally {
      this.#hasEnded = true;
      this.#changed.notify();
    }
  }

  #isSettled(): boolean {
    return this.#hasEnded || [...this.#views.values()].every(({ isWaiting }) => isWaiting);
  }

  /** The terminal; output that comes while the person may be typing starts below the prompt. */
  #output(): Terminal {
    if (this.#isPrompted) this.#terminal.write('\n');
    this.#isPrompted = false;
    return this.#terminal;
  }

  #show(item: StreamItem): void {
    if (item.type === 'delta') this.#views.get(item.turn.id)?.delta(item);
    else if (item.type !== 'gap' && item.type !== 'damage') this.#showEvent(item);
  }

  #showEvent(event: NatterEvent): void {
    switch (event.type) {
      case 'notice':
        return this.#close(event.correlationId, event.notice.text);
      case 'assistant_message':
        this.#views.get(event.turn.id)?.answer(event.text);
        return event.interim ? undefined : this.#close(event.turn.id);
      case 'turn_queued':
        return this.#wait(event.turn.id, [pc.dim('Queued behind the running turn.')]);
      case 'turn_started':
        for (const { id } of event.merged ?? []) this.#moveTo(id, event.turn.id);
        return this.#resume(event.turn.id);
      case 'turn_joined':
        return this.#moveTo(event.runId, event.turn.id);
      case 'approval_requested':
        return this.#wait(event.turn.id, [pc.yellow(questionOf(event, null))], true);
      case 'approval_resolved':
        return this.#resume(event.turn.id);
      default: {
        const ended = endedBy(event);
        for (const id of ended?.turnIds ?? []) this.#close(id, pc.red(ended?.how ?? ''));
      }
    }
  }

  #close(turnId: string, how?: string): void {
    const view = this.#views.get(turnId);
    if (view === undefined) return;
    view.endLine();
    if (how !== undefined) this.#screen.out(how);
    this.#views.delete(turnId);
  }

  /** `isForAll`: show it whether or not the turn was started here. */
  #wait(turnId: string, why: readonly string[], isForAll = false): void {
    const view = this.#views.get(turnId);
    view?.endLine();
    if (view) view.isWaiting = true;
    if (view || isForAll) for (const line of why) this.#screen.out(line);
  }

  #resume(turnId: string): void {
    const view = this.#views.get(turnId);
    if (view) view.isWaiting = false;
  }

  /** The message is answered by another turn, which is shown once. */
  #moveTo(runId: string, turnId: string): void {
    const view = this.#views.get(runId);
    if (view === undefined) return;
    this.#views.delete(runId);
    if (!this.#views.has(turnId)) this.#views.set(turnId, view);
  }
}
