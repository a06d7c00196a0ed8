import type { TurnView } from '../../shared/context/said.ts';
import type { Clock, EventLog } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { ActiveTurn } from '../../shared/session/context.ts';
import type { Position } from '../../shared/session/evolve.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';

/** The conversations of a host's sessions, as far as they are in memory. */
export class Conversations {
  constructor(_log: { readonly events: EventLog; readonly clock: Clock }) {}

  /** What the turn sees, with all that is recorded up to `position`. */
  async read(
    _key: SessionKey,
    _turn: Pick<ActiveTurn, 'id'>,
    _position: Pick<Position, 'seq' | 'contextSeq'>,
  ): Promise<TurnView> {
    throw new Error('not there yet');
  }

  /** Told of a commit that was just recorded, a conversation in memory need not read it. Optional. */
  note(_commit: RecordedCommit): void {}

  /** The session is no longer ours. */
  forget(_key: SessionKey): void {}
}
