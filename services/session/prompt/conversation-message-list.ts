import { type ConversationMessage, summaryMessage } from '../../../shared/domain/prompt/conversation-message.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { revisedSaid } from './running-turn.ts';

/** Estimated overhead of a message in characters, besides its text. */
const overhead = 200;
const charactersOf = ({ message }: ConversationMessage): number => {
  const calls = message.role === 'assistant' ? (message.calls ?? []) : [];
  const thoughts = message.role === 'assistant' ? (message.reasoning?.parts ?? []) : [];
  const thought = thoughts
    .map(({ text, signature = '', redacted = '' }) => overhead + text.length + signature.length + redacted.length)
    .reduce((sum, characters) => sum + characters, 0);
  return overhead + message.text.length + thought + calls.reduce((sum, call) => sum + overhead + call.arguments.length, 0);
};

/** The messages of one conversation. The list is bounded and drops its oldest messages. */
export class ConversationMessageList {
  #items: ConversationMessage[] = [];
  #characters = 0;

  get items(): readonly ConversationMessage[] {
    return this.#items;
  }
  /** Estimated size in characters. */
  get characters(): number {
    return this.#characters;
  }

  add(said: ConversationMessage): void {
    this.#items.push(said);
    this.#characters += charactersOf(said);
  }

  clear(): void {
    this.#items = [];
    this.#characters = 0;
  }

  /** Edits or withdraws a message; false if it is not there. */
  revise(event: EventOf<'message_edited' | 'message_withdrawn'>): boolean {
    const place = this.#items.findIndex(({ heard }) => heard?.of === event.of);
    const old = this.#items[place];
    if (old === undefined) return false;
    const revised = revisedSaid(old, event);
    this.#items.splice(place, 1, revised);
    this.#characters += charactersOf(revised) - charactersOf(old);
    return true;
  }

  /** Replaces all messages up to `throughRev` with a summary, except those that turn `turnId` answers. */
  summarise(summary: string, { throughRev, seq, turnId }: { throughRev: number; seq: number; turnId: string | undefined }): void {
    const before = this.#items;
    this.clear();
    this.add({ rev: throughRev, seq, summary: true, message: summaryMessage(summary) });
    for (const said of before) {
      if (said.rev > throughRev) this.add(said);
      else if (isAbout(said, turnId)) this.add({ ...said, rev: throughRev });
    }
  }

  /**
   * Drops the oldest messages until the rest fits, except those that turn `turnId` answers. The messages of one commit are
   * dropped together, so that no call loses its result. Returns true if the list was too long.
   */
  trim(turnId: string | undefined): boolean {
    if (this.#characters <= limits.contextCharacters) return false;
    const stays: ConversationMessage[] = [];
    let [gone, rev] = [0, 0];
    for (const said of this.#items) {
      if (this.#characters <= limits.contextCharacters && said.rev !== rev) break;
      gone++;
      rev = said.rev;
      if (isAbout(said, turnId)) stays.push(said);
      else this.#characters -= charactersOf(said);
    }
    this.#items.splice(0, gone, ...stays);
    return true;
  }
}

const isAbout = ({ asks, turnId }: ConversationMessage, running: string | undefined): boolean =>
  asks === true && turnId === running;
