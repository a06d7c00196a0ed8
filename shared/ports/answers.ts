import type { CommandAnswer } from '../domain/session/envelope.ts';

/** Outcomes of commands, sent once over an ephemeral subject to the caller. Losing one loses nothing: the log is the truth. */
export interface Answers {
  /** The subject to set as `answerTo`. */
  readonly address: string;
  /** Call this before publishing the command. Resolves with `null` when no answer arrives in time. Rejects as `hear` throws. */
  wait(commandId: string, timeoutMs: number): Promise<CommandAnswer | null>;
  /** The same until the function is called that this returns: `settle` gets the answer, if one comes. Throws `overloaded`. */
  hear(commandId: string, settle: (answer: CommandAnswer) => void): () => void;
  tell(answerTo: string, answer: CommandAnswer): void;
}
