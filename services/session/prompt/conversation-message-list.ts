import { type ConversationMessage, summaryMessage } from '../../../shared/domain/prompt/conversation-message.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** Characters in memory that a message costs besides its text, about. */
const overhead = 200;
const charactersOf = ({ message }: ConversationMessage): number => {
  const calls = message.role === 'assistant' ? (message.calls ?? []) : [];
  return overhead + message.text.length + calls.reduce((sum, call) => sum + overhead + call.arguments.length, 0);
};

/** The messages of one conversation, bounded: it forgets its oldest. */
export class ConversationMessageList {
  #items: ConversationMessage[] = [];
  #characters = 0;

  get items(): readonly ConversationMessage[] {
    return this.#items;
  }
  /** About how much memory it takes. */
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

  /** A summary takes the place of all up to `throughRev`, but not of what turn `turnId` is about. */
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
   * Keeps the newest, and what turn `turnId` is about. What one commit brought goes as one, so no call loses its result. True if anything
   * is gone.
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
