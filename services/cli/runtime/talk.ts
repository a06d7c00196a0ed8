import pc from 'picocolors';
import type { NatterClient, NatterEvent, StreamItem } from '../../../shared/client/main.ts';
import { questionOf } from '../../../shared/domain/routing/approval-text.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { Signal } from '../../../shared/kit/signal.ts';
import type { Terminal } from '../terminal.ts';
import { endedBy, RunView, type Screen } from './run-view.ts';

/** A person's side of a session: what they say, and all that comes of it, whenever it comes. */
export class Talk {
  readonly #terminal: Terminal;
  readonly #client: NatterClient;
  readonly #key: string;
  readonly #prompt: () => void;
  /** What was said here and has no answer yet, by the turn that makes it. */
  readonly #views = new Map<string, RunView>();
  readonly #screen: Screen;
  readonly #changed = new Signal();
  /** Until a message's run is known, nothing that the session tells can be told apart. */
  #posting: Promise<unknown> = Promise.resolve();
  #isSaying = false;
  #isPrompted = false;
  #isOver = false;

  /** `prompt` asks the person for the next line. */
  constructor(terminal: Terminal, client: NatterClient, key: string, prompt: () => void) {
    this.#terminal = terminal;
    this.#client = client;
    this.#key = key;
    this.#prompt = prompt;
    this.#screen = { out: (line) => this.#beginning().out(line), write: (text) => this.#beginning().write(text) };
  }

  prompt(): void {
    this.#isPrompted = true;
    this.#prompt();
  }

  /** Sends a line, and shows what comes of it until it is answered or has to wait. */
  async say(text: string, signal: AbortSignal): Promise<void> {
    this.#isPrompted = false;
    this.#isSaying = true;
    const posted = this.#client.sessions.post(this.#key, text);
    this.#posting = posted.then(({ runId }) => this.#views.set(runId, new RunView(this.#screen))).catch(() => {});
    try {
      await posted;
      await this.#posting;
      while (!this.#isSettled() && !signal.aborted) await this.#changed.wait(signal);
    } catch (error) {
      this.#terminal.note(pc.red(errorMessage(error)));
    } finally {
      this.#isSaying = false;
    }
  }

  /** Shows what the session tells, to its end. */
  async follow(items: AsyncIterable<StreamItem>): Promise<void> {
    try {
      for await (const item of items) {
        await this.#posting;
        this.#tell(item);
        this.#changed.notify();
        if (!this.#isPrompted && !this.#isSaying && this.#isSettled()) this.prompt();
      }
    } catch (error) {
      this.#terminal.note(pc.red(errorMessage(error)));
    } finally {
      this.#isOver = true;
      this.#changed.notify();
    }
  }

  #isSettled(): boolean {
    return this.#isOver || [...this.#views.values()].every(({ isWaiting }) => isWaiting);
  }

  /** What comes while the person may be typing goes below the prompt. */
  #beginning(): Terminal {
    if (this.#isPrompted) this.#terminal.write('\n');
    this.#isPrompted = false;
    return this.#terminal;
  }

  #tell(item: StreamItem): void {
    if (item.type === 'delta') this.#views.get(item.turn.id)?.delta(item);
    else if (item.type !== 'gap') this.#hear(item);
  }

  #hear(event: NatterEvent): void {
    switch (event.type) {
      case 'notice':
        return this.#close(event.correlationId, event.notice.text);
      case 'assistant_message':
        this.#views.get(event.turn.id)?.answer(event.text);
        return event.interim ? undefined : this.#close(event.turn.id);
      case 'turn_queued':
        return this.#wait(event.turn.id, [pc.dim('It waits for the turn that runs.')]);
      case 'turn_started':
        for (const { id } of event.merged ?? []) this.#carry(id, event.turn.id);
        return this.#goOn(event.turn.id);
      case 'turn_joined':
        return this.#carry(event.runId, event.turn.id);
      case 'approval_requested':
        return this.#wait(event.turn.id, [pc.yellow(questionOf(event, null))], true);
      case 'approval_resolved':
        return this.#goOn(event.turn.id);
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

  /** `isForAll`: it is shown whoever's turn it is. */
  #wait(turnId: string, why: readonly string[], isForAll = false): void {
    const view = this.#views.get(turnId);
    view?.endLine();
    if (view) view.isWaiting = true;
    if (view || isForAll) for (const line of why) this.#screen.out(line);
  }

  #goOn(turnId: string): void {
    const view = this.#views.get(turnId);
    if (view) view.isWaiting = false;
  }

  /** What was said is answered by another turn, and shown once. */
  #carry(runId: string, turnId: string): void {
    const view = this.#views.get(runId);
    if (view === undefined) return;
    this.#views.delete(runId);
    if (!this.#views.has(turnId)) this.#views.set(turnId, view);
  }
}
