import { createInterface } from 'node:readline/promises';
import type { EventSourceMessage } from 'eventsource-parser';
import pc from 'picocolors';
import { messageOf } from '../../../shared/kit/errors.ts';
import { withoutSilence } from '../../../shared/routing/silence.ts';
import type { SessionEvent } from '../../../shared/session/events.ts';
import { type ApiClient, ApiError, sessionPath } from '../api-client.ts';
import type { Terminal, World } from '../terminal.ts';

interface LiveDelta {
  readonly turn: { readonly id: string };
  readonly step: number;
  readonly offset: number;
  readonly end: number;
  readonly text: string;
}

/** Shows one run: its text as it comes, and the recorded answer as the truth. `tell` returns true when the run is over. */
class RunView {
  readonly #terminal: Terminal;
  readonly #runId: string;
  #step = 1;
  #shown = '';
  /** Where in the step's text the next piece has to begin. */
  #position = 0;

  constructor(terminal: Terminal, runId: string) {
    this.#terminal = terminal;
    this.#runId = runId;
  }

  tell({ event: kind, data }: EventSourceMessage): boolean {
    if (kind === 'delta') {
      this.#delta(JSON.parse(data) as LiveDelta);
      return false;
    }
    return this.#event(JSON.parse(data) as SessionEvent & { readonly correlationId: string });
  }

  /** Live text may be lost, come twice or belong to an attempt that failed: only what continues the shown text is shown. */
  #delta({ turn, step, offset, end, text }: LiveDelta): void {
    if (turn.id !== this.#runId) return;
    if (step !== this.#step) {
      if (this.#shown !== '') this.#terminal.write('\n');
      this.#shown = '';
      this.#position = 0;
      this.#step = step;
    }
    if (offset !== this.#position) return;
    this.#terminal.write(text);
    this.#shown += text;
    this.#position = end;
  }

  #event(event: SessionEvent & { readonly correlationId: string }): boolean {
    const ending = endingOf(event, this.#runId);
    if (event.type === 'notice' && event.correlationId === this.#runId) {
      this.#terminal.out(event.notice.text);
      return true;
    }
    if (event.type === 'assistant_message' && event.turn.id === this.#runId) {
      this.#terminal.write(`${this.#restOf(withoutSilence(event.text))}\n`);
      return true;
    }
    if (ending !== null) this.#terminal.out(pc.red(ending));
    return ending !== null;
  }

  /** What of the answer is not shown yet. White space beside a silence marker may be shown already and is not in the answer. */
  #restOf(answer: string): string {
    if (answer.trim() === '') return '(no reply)';
    const shown = [this.#shown, this.#shown.trim()].find((text) => answer.startsWith(text));
    return shown === undefined ? `\n${answer}` : answer.slice(shown.length);
  }
}

/** What ended a run without an answer, in words; `null` if the event did not. */
const endingOf = (event: SessionEvent, runId: string): string | null => {
  switch (event.type) {
    case 'turn_failed':
      return event.turn.id === runId ? `failed: ${event.code}: ${event.message}` : null;
    case 'turn_aborted':
      return event.turn.id === runId ? `stopped: ${event.reason}` : null;
    case 'turn_completed':
      return event.turn.id === runId ? '(no reply)' : null;
    case 'queue_cleared':
      return event.turnIds.includes(runId) ? `taken from the queue: ${event.reason}` : null;
    case 'message_refused':
      return event.turnId === runId ? `refused: ${event.code}` : null;
    default:
      return null;
  }
};

/** Sequence of the session's last commit; 0 if there is none. What comes after it is news. */
const lastSeq = async (client: ApiClient, key: string): Promise<number> => {
  try {
    return (await client.get<{ seq: number }>(sessionPath(key), { patienceMs: 5_000 })).seq;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 0;
    throw error;
  }
};

/** A prompt: each line is a message to the session, its answer is streamed. Ends with `/quit`, Ctrl-D or the signal. */
export const chat = async (world: World, client: ApiClient, key: string, signal: AbortSignal): Promise<void> => {
  const { terminal } = world;
  const ended = new AbortController();
  const all = AbortSignal.any([signal, ended.signal]);
  const lines = createInterface({ input: world.input, output: world.output, prompt: pc.bold('you> ') });
  all.addEventListener('abort', () => lines.close());
  const messages = client.stream(sessionPath(key, '/events'), {
    query: { deltas: true, after: await lastSeq(client, key) },
    signal: all,
    waiting: (reason) => terminal.note(pc.dim(`waiting for the gateway: ${reason}`)),
  });
  try {
    lines.prompt();
    for await (const line of lines) {
      if (line.trim() === '/quit') break;
      if (line.trim() !== '') await answer(terminal, client, key, line, messages);
      if (!all.aborted) lines.prompt();
    }
  } finally {
    ended.abort();
    lines.close();
    await messages.return(undefined);
  }
};

/** Sends a line and shows the answer. The stream begins before the message, so nothing of it can be missed. */
const answer = async (
  terminal: Terminal,
  client: ApiClient,
  key: string,
  text: string,
  messages: AsyncGenerator<EventSourceMessage>,
): Promise<void> => {
  try {
    const { runId } = await client.post<{ runId: string }>(sessionPath(key, '/messages'), { text });
    const view = new RunView(terminal, runId);
    for (let next = await messages.next(); !next.done; next = await messages.next()) if (view.tell(next.value)) return;
  } catch (error) {
    terminal.note(pc.red(messageOf(error)));
  }
};
