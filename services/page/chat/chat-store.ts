import { signal } from '@preact/signals';
import { NatterApiError, type NatterEvent, sessionPath } from '../../../shared/client/main.ts';
import { away } from '../base/away.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { announce } from '../parts/announce.tsx';
import { type Chat, noChat, takeEvent, takeLive } from './chat-model.ts';

/** A message of ours that no event has told of yet. */
export interface Outgoing {
  readonly messageId: string;
  readonly text: string;
  readonly at: number;
  readonly problem: string | null;
}

interface EventPage {
  readonly events: readonly NatterEvent[];
  readonly next: string;
  readonly more: boolean;
}
const pageRows = 500;

/** One open chat: its events up to now, then what happens, until it is closed. */
export class ChatStore {
  readonly key: string;
  readonly chat = signal<Chat>(noChat);
  readonly outgoing = signal<readonly Outgoing[]>([]);
  readonly isRead = signal(false);
  /** Sequence after which the chat begins, as long as there is more before it. */
  readonly hiddenUntil = signal(0);
  readonly problem = signal<string | null>(null);
  /** Why the stream waits; `null` while it flows. */
  readonly waiting = signal<string | null>(null);
  readonly #closing = new AbortController();

  constructor(key: string) {
    this.key = key;
    void this.#run();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Sends a message. It is shown at once, and replaced by the recorded one; the same one again is one message. */
  async send(text: string, messageId: string = crypto.getRandomValues(new Uint32Array(4)).join('-')): Promise<void> {
    const others = this.outgoing.value.filter((each) => each.messageId !== messageId);
    this.outgoing.value = [...others, { messageId, text, at: Date.now(), problem: null }];
    try {
      await client.sessions.post(this.key, { text, messageId }, { idempotencyKey: messageId });
      // A text that is a chat command has an answer, and no message of its own.
      if (text.startsWith('/')) this.#settle(messageId);
    } catch (error) {
      const problem = problemOf(error);
      this.outgoing.value = this.outgoing.value.map((each) => (each.messageId === messageId ? { ...each, problem } : each));
    }
  }

  async stop(): Promise<void> {
    try {
      await client.sessions.stop(this.key, { reason: 'stopped on the page' });
    } catch (error) {
      this.problem.value = problemOf(error);
    }
  }

  /** Reads the history from its beginning. */
  async readAll(): Promise<void> {
    this.hiddenUntil.value = 0;
    const until = this.chat.value;
    const before = await this.#history(0, until.seq).catch((error: unknown) => {
      this.problem.value = problemOf(error);
      return null;
    });
    if (before === null) return;
    const whole = before.reduce(takeEvent, noChat);
    this.chat.value = {
      ...this.chat.value,
      items: [...whole.items, ...this.chat.value.items.filter(({ seq }) => seq > whole.seq)],
    };
  }

  #settle(messageId: string): void {
    this.outgoing.value = this.outgoing.value.filter((each) => each.messageId !== messageId);
  }

  #take(event: NatterEvent, isNew: boolean): void {
    this.chat.value = takeEvent(this.chat.value, event);
    if (event.type === 'user_message') this.#settle(event.message.messageId);
    if (isNew && event.type === 'assistant_message') announce(event.text);
    if (isNew && event.type === 'approval_requested') announce(`Approval needed: ${event.action}`);
    if (isNew && event.type === 'turn_failed') announce(`No answer: ${event.message}`);
  }

  async #history(after: number, until = Number.POSITIVE_INFINITY): Promise<NatterEvent[]> {
    const events: NatterEvent[] = [];
    for (let position: string | number = after; ; ) {
      const query = { after: position, limit: pageRows };
      const page: EventPage = await client.get(sessionPath(this.key, '/events'), { query, signal: this.#closing.signal });
      events.push(...page.events.filter(({ seq }) => seq <= until));
      if (!page.more || page.next === position || (events.at(-1)?.seq ?? 0) >= until) return events;
      position = page.next;
    }
  }

  /** Where the newest part of the conversation begins: the session itself remembers its last messages. */
  async #beginning(): Promise<number> {
    const { position } = await client.sessions.state(this.key, { signal: this.#closing.signal });
    const [oldest = 0] = position.window;
    return Math.max(0, oldest - 1);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let after = 0;
    try {
      const from = await this.#beginning();
      const events = await this.#history(from);
      for (const event of events) this.#take(event, false);
      this.hiddenUntil.value = (events[0]?.rev ?? 1) > 1 ? from : 0;
      after = this.chat.value.seq;
    } catch (error) {
      if (signal.aborted) return;
      // A session begins with its first message.
      if (!(error instanceof NatterApiError && error.code === 'not_found')) this.problem.value = problemOf(error);
    }
    this.isRead.value = true;
    await this.#follow(after, signal);
  }

  async #follow(after: number, signal: AbortSignal): Promise<void> {
    const onWaiting = away(this.waiting, signal);
    try {
      for await (const item of client.events({ key: this.key, after, live: true, signal, onWaiting })) {
        this.waiting.value = null;
        if (item.type === 'delta') this.chat.value = takeLive(this.chat.value, item);
        else if ('rev' in item) this.#take(item, true);
      }
    } catch (error) {
      if (!signal.aborted) this.problem.value = problemOf(error);
    }
  }
}
