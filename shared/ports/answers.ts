import type { CommandAnswer } from '../domain/session/envelope.ts';

/** Outcomes of commands, sent once over an ephemeral subject to the caller. Losing one loses nothing: the log is the truth. */
export interface Answers {
  /** The subject to set as `answerTo`. */
  readonly address: string;
  /** Call this before publishing the command. Resolves with `null` when no answer arrives in time. */
  wait(commandId: string, timeoutMs: number): Promise<CommandAnswer | null>;
  tell(answerTo: string, answer: CommandAnswer): void;
}
