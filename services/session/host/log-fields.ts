import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope, Commit } from '../../../shared/domain/session/envelope.ts';
import type { SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { isLate, type Outcome } from './outcome.ts';

/** The fields of every log line about a session: its key, its revision, and its run, by which related lines are found. */
export const logFields = ({ key, state: { position, machine } }: { readonly key: SessionKey; readonly state: SessionState }) => ({
  key,
  rev: position.rev,
  ...(machine.context.turn && { correlationId: machine.context.turn.id }),
});

const tooLate = 'dropped: its order number is below all that the session still knows, so it is a repeat or comes too late';

/** Logs one line for a command from the queue. */
export const logOutcome = (
  { key, id: commandId, correlationId, causationId, order, data }: CommandEnvelope,
  outcome: Outcome,
  log: Logger,
): void => {
  if (isLate(outcome)) log.warn({ key, commandId, causationId, order: order?.number }, tooLate);
  const rev = outcome.kind === 'accepted' ? outcome.rev : undefined;
  const code = outcome.kind === 'refused' ? outcome.code : undefined;
  log.debug({ key, rev, correlationId, causationId, commandId, command: data.type, outcome: outcome.kind, code }, 'command');
};

/**
 * Logs one line for each turn that a commit ends or takes up again. A failure's code is a warning for operators; its text is not logged. Who looks
 * into the log after a crash must see that the turns of before go on.
 */
export const logTurns = ({ key, rev, correlationId, causationId, events }: Commit, log: Logger): void => {
  for (const event of events) {
    if (event.type === 'turn_resumed') {
      const { turn, reason } = event;
      const what =
        reason === undefined ? 'recovered: the turn of a host that is gone goes on' : 'turn goes on in its next attempt';
      log.info({ key, rev, correlationId, causationId, attempt: turn.attempt, reason }, what);
    } else if (event.type === 'turn_failed') log.warn({ key, rev, correlationId, causationId, code: event.code }, 'turn failed');
    else if (event.type === 'turn_completed') log.debug({ key, rev, correlationId, causationId }, 'turn completed');
    else if (event.type === 'turn_aborted') log.debug({ key, rev, correlationId, causationId }, 'turn aborted');
  }
};
