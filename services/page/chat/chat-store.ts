import { batch, computed, type Signal, signal } from '@preact/signals';
import { type EventPage, type LiveText, NatterApiError, type NatterEvent, sessionPath } from '../../../shared/client/main.ts';
import type { RewindReason } from '../../../shared/domain/values/expiry.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { actionText } from '../approvals/command-line.ts';
import { away } from '../base/away.ts';
import { draftOf, keepDraft } from '../base/draft.ts';
import { begun, broughtUp, isUnwritten } from '../base/new-chat.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { chooseFiles, chosenFor } from '../files/chosen-files.ts';
import { announce } from '../parts/announce.tsx';
import { plainText } from '../parts/one-line.ts';
import { type Chat, noChat, type SaidItem, takeEvent, takeLive } from './chat-model.ts';
import { lastFailure } from './failed.ts';
import { failedText, stopReason } from './mark-texts.ts';
import { changeOutgoing, dropOutgoing, filesOf, newMessageId, type Outgoing, outgoingTo } from './outgoing.ts';
import { awaitEvents, sendInOrder } from './sending.ts';
import { typedCommands } from './typed-commands.ts';

const pageEvents = 300;
/** Live text is shown this often, ms: more often than a screen changes would be work for nobody. */
const liveMs = 33;

/** One open chat: its newest events, those before them as they are asked for, then what happens, until it is closed. */
export class ChatStore {
  readonly key: string;
  readonly chat = signal<Chat>(noChat);
  readonly #items = computed(() => this.chat.value.items);
  /** The answer that failed last, which can be tried again at its mark. */
  readonly failed = computed(() => lastFailure(this.#items.value));
  /** The newest answer that was to be sent to a channel. */
  readonly newestSent = computed(() => {
    const item = this.#items.value.findLast((each) => each.kind === 'said' && each.sentTo !== undefined);
    return item?.kind === 'said' ? item.sentTo?.event : undefined;
  });
  readonly outgoing = computed(() => outgoingTo(this.key));
  readonly commands = computed(() => typedCommands(this.key));
  readonly isRead = signal(false);
  /** There was no session of this key when the chat was opened, and New chat has not made the key. */
  readonly isUnknown = signal(false);
  /** Where the events begin that are not read yet; `null`: all are. */
  readonly earlier = signal<string | null>(null);
  readonly problem = signal<string | null>(null);
  /** Why the stream waits; `null` while it flows. */
  readonly waiting = signal<string | null>(null);
  /** What came after the last time that the stream had waited; `null` once that is old news. */
  readonly caughtUp = signal<string | null>(null);
  /** The message that is being edited: one at a time. */
  readonly editing: Signal<string | null>;
  /** The field where a person writes: the focus goes there when what had it is gone. */
  readonly field: { current: HTMLTextAreaElement | null } = { current: null };
  #events: NatterEvent[] = [];
  #pieces: LiveText[] = [];
  #showing: ReturnType<typeof setTimeout> | undefined;
  #isReadingEarlier = false;
  readonly #closing = new AbortController();

  constructor(key: string) {
    this.key = key;
    this.editing = signal(draftOf(this.#edited));
    this.#closing.signal.addEventListener('abort', awaitEvents(key));
    void this.#run();
  }

  get #edited(): string {
    return `${this.key} edited`;
  }

  /** Opens a message to be edited, in place of the one before, or closes that. What was written in it is kept. */
  edit(id: string | null): void {
    keepDraft(this.#edited, id);
    this.editing.value = id;
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#showing);
  }

  /** Sends a message. It is shown at once, and replaced by the recorded one; the same one again is one message. */
  send(text: string, files: readonly File[] = [], messageId = newMessageId()): Promise<void> {
    const one: Outgoing = { messageId, text, files, at: Date.now(), problem: null };
    changeOutgoing(this.key, (list) => [...list.filter((each) => each.messageId !== messageId), one]);
    return sendInOrder(this.key, one);
  }

  /** Takes a message off those on their way: it has arrived, or is not to be sent any more. */
  discard(messageId: string): void {
    dropOutgoing(this.key, messageId);
  }

  /** Whether nothing was said before a message: then there is nothing to go on from. */
  isFirst({ seq }: SaidItem): boolean {
    return this.earlier.value === null && !this.#events.some((one) => one.seq < seq && one.type !== 'session_opened');
  }

  /** Replaces a message: the conversation continues from before it, as a fork, and what came after is no part of it any more. Whether that was done. */
  replace(item: SaidItem, text: string): Promise<boolean> {
    broughtUp.value = this.key;
    return this.#attempt(async () => {
      const wants: RewindReason = text.trim() === item.text ? 'another answer' : 'another text';
      const files = await filesOf(this.key, item);
      if (this.isFirst(item)) await client.sessions.reset(this.key, { reason: wants });
      else await client.sessions.fork(this.key, { at: item.seq - 1, reason: wants });
      // What cannot be sent is kept with those on their way.
      void this.send(text, files);
    });
  }

  /** Takes a message that waits out of the queue. `text`: what is put into the field again with its files, unless something is written there. */
  takeBack(item: SaidItem, text: string | null): Promise<boolean> {
    this.field.current?.focus();
    return this.#attempt(async () => {
      await client.runs.cancel(this.key, item.turnId ?? '');
      const isWritten = draftOf(this.key) !== null || chosenFor(this.key).peek().files.length > 0;
      if (text === null || isWritten) return;
      keepDraft(this.key, text);
      chooseFiles(this.key, await filesOf(this.key, item));
    });
  }

  stop(): Promise<boolean> {
    return this.#attempt(() => client.sessions.stop(this.key, { reason: stopReason }));
  }

  /** Reads the events before those that are shown. */
  async readEarlier(): Promise<void> {
    const { value: before } = this.earlier;
    if (before === null || this.#isReadingEarlier) return;
    this.#isReadingEarlier = true;
    await this.#attempt(async () => {
      const events = await this.#back(before);
      this.#events = [...events, ...this.#events];
      // A call that began there may have ended here: all of it is computed again.
      const { live, cut } = this.chat.value;
      this.chat.value = { ...this.#events.reduce(takeEvent, { ...noChat, cut }), live };
    });
    this.#isReadingEarlier = false;
  }

  /** Whether it went well. What went wrong is shown until the next attempt. */
  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    this.problem.value = null;
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.problem.value = problemOf(error);
      return false;
    }
  }

  #take(event: NatterEvent): void {
    batch(() => {
      this.#show();
      this.#events.push(event);
      this.chat.value = takeEvent(this.chat.value, event);
      if (event.type === 'user_message') this.discard(event.message.messageId);
    });
    if (event.type === 'assistant_message') announce(plainText(withoutSilence(event.text)));
    if (event.type === 'approval_requested') announce(`Approval needed: ${actionText(event.action)}`);
    if (event.type === 'turn_failed') announce(failedText(event, this.chat.value.model));
  }

  /** Shows the live text that has come. */
  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    if (this.#pieces.length > 0) this.chat.value = this.#pieces.reduce(takeLive, this.chat.value);
    this.#pieces = [];
  }

  /** A page of the history in front of a place, oldest first. */
  async #back(before: string): Promise<NatterEvent[]> {
    const query = { before, limit: pageEvents };
    // Without a gateway it waits for one: the page says so.
    const options = { query, signal: this.#closing.signal, patienceMs: Number.POSITIVE_INFINITY };
    const page: EventPage = await client.get(sessionPath(this.key, '/events'), options);
    this.earlier.value = page.more ? page.next : null;
    return page.events.toReversed();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      if (!isUnwritten(this.key)) this.#events = await this.#back('end');
      this.chat.value = this.#events.reduce(takeEvent, noChat);
      for (const event of this.#events) if (event.type === 'user_message') this.discard(event.message.messageId);
    } catch (error) {
      if (signal.aborted) return;
      // A session begins with its first message.
      if (error instanceof NatterApiError && error.code === 'not_found') this.isUnknown.value = begun.peek() !== this.key;
      else this.problem.value = problemOf(error);
    }
    this.isRead.value = true;
    await this.#follow(this.chat.value.seq, signal);
  }

  async #follow(after: number, signal: AbortSignal): Promise<void> {
    const onWaiting = away(this.waiting, signal, () => {
      this.problem.value = null;
    });
    let missed = null as number | null;
    let waitedSince = 0;
    const note = (reason: string): void => {
      if (missed === null) [missed, waitedSince] = [0, Date.now()];
      onWaiting(reason);
    };
    try {
      for await (const item of client.events({ key: this.key, after, live: true, signal, onWaiting: note })) {
        this.waiting.value = null;
        if (missed !== null) {
          if ('rev' in item) missed += 1;
          const seconds = Math.max(1, Math.round((Date.now() - waitedSince) / 1_000));
          this.caughtUp.value = `Connected again after ${seconds} s${missed === 0 ? '' : `, ${counted(missed, 'event')} caught up`}.`;
          // What is live again is no gap any more.
          if (item.type === 'delta') missed = null;
        } else if ('rev' in item && item.type === 'user_message') this.caughtUp.value = null;
        if (item.type === 'delta') {
          this.#pieces.push(item);
          this.#showing ??= setTimeout(() => this.#show(), liveMs);
        } else if ('rev' in item) {
          this.#take(item);
          if (item.type === 'turn_completed') missed = null;
        }
      }
    } catch (error) {
      if (!signal.aborted) this.problem.value = problemOf(error);
    }
  }
}
