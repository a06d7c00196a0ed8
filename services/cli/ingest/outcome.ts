import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { fold, initialState, type SessionState } from '../../../shared/domain/session/fold/evolve.ts';

/** The outcome of one session's messages and turns, read from its log commit by commit. */
export class SessionOutcome {
  state: SessionState = initialState;
  /** Ids of all messages in the log, stored or refused. */
  readonly known = new Set<string>();
  readonly #expected = new Set<string>();
  readonly #turns = new Map<string, 'open' | 'completed' | 'failed' | 'aborted'>();
  stored = 0;
  readonly refused = new Map<string, number>();

  /** Counts only these messages and their turns. Call before `accept` gets to them. */
  expect(messageId: string): void {
    this.#expected.add(messageId);
  }

  /** Expected messages that are not in the log yet, and their turns that have not ended. */
  get pending(): number {
    const turns = [...this.#turns.values()].filter((state) => state === 'open').length;
    let messages = 0;
    for (const id of this.#expected) if (!this.known.has(id)) messages += 1;
    return messages + turns;
  }

  /** Turns by how they ended. */
  turns(): Record<'completed' | 'failed' | 'aborted' | 'open', number> {
    const counts = { completed: 0, failed: 0, aborted: 0, open: 0 };
    for (const state of this.#turns.values()) counts[state] += 1;
    return counts;
  }

  accept(commit: RecordedCommit): void {
    this.state = fold(this.state, commit);
    for (const event of commit.events) this.#acceptEvent(event);
  }

  #acceptEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'user_message': {
        const { messageId } = event.message;
        this.known.add(messageId);
        if (!this.#expected.has(messageId)) return;
        this.stored += 1;
        if (event.turnId !== undefined) this.#turns.set(event.turnId, 'open');
        return;
      }
      case 'message_refused':
        this.known.add(event.messageId);
        if (this.#expected.has(event.messageId)) this.refused.set(event.code, (this.refused.get(event.code) ?? 0) + 1);
        return;
      case 'turn_completed':
        return this.#end(event.turn.id, 'completed');
      case 'turn_failed':
        return this.#end(event.turn.id, 'failed');
      case 'turn_aborted':
        return this.#end(event.turn.id, 'aborted');
      case 'queue_cleared':
        for (const id of event.turnIds) this.#end(id, 'aborted');
        return;
      default:
        return;
    }
  }

  #end(turnId: string, how: 'completed' | 'failed' | 'aborted'): void {
    if (this.#turns.has(turnId)) this.#turns.set(turnId, how);
  }
}
