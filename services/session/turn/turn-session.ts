import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { SessionState } from '../../../shared/domain/session/fold/evolve.ts';

/** What became of a turn's command, as far as the turn needs to know. */
export type TurnOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly message: string }
  /** Nothing was recorded: another attempt, or another host, has the turn. */
  | { readonly kind: 'nothing' | 'duplicate' | 'stale' | 'uncommitted' };

/** A session as its turn sees it: what the log says, and the way to add to it. All that the turn knows of its host. */
export interface TurnSession {
  readonly key: SessionKey;
  /** The session as of its last recorded commit. */
  readonly state: SessionState;
  /** Puts a command of the run into the session's mailbox; `state` includes what it changes when the promise resolves. */
  submit(command: SessionCommand, runId: string): Promise<TurnOutcome>;
  /** The turn's loop itself broke, because the log could not be read, say. Loading the session again resumes the turn. */
  turnFailed(error: unknown): void;
}
