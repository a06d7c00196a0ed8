import type { CommandAnswer } from '../domain/session/envelope.ts';

/** Outcomes of commands, told once over an ephemeral subject to whoever asked. Losing one loses nothing: the log is the truth. */
export interface Answers {
  /** Subject to put into `answerTo`. */
  readonly address: string;
  /** Call before publishing the command. Resolves with `null` when no answer came in time. */
  wait(commandId: string, timeoutMs: number): Promise<CommandAnswer | null>;
  tell(answerTo: string, answer: CommandAnswer): void;
}
