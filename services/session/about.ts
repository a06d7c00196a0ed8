import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope, Commit } from '../../shared/domain/session/envelope.ts';
import type { SessionState } from '../../shared/domain/session/evolve.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Outcome } from './session-actor.ts';

/** What every line about a session says: whose it is, how far it is, and its run, by which all that belongs to it is found. */
export const about = ({ key, state: { position, machine } }: { readonly key: SessionKey; readonly state: SessionState }) => ({
  key,
  rev: position.rev,
  ...(machine.context.turn && { correlationId: machine.context.turn.id }),
});

/** One line for a command that has come through the queue. */
export const tellOutcome = (
  { key, id: commandId, correlationId, causationId, data }: CommandEnvelope,
  outcome: Outcome,
  log: Logger,
): void => {
  const rev = outcome.kind === 'accepted' ? outcome.rev : undefined;
  const code = outcome.kind === 'refused' ? outcome.code : undefined;
  log.debug({ key, rev, correlationId, causationId, commandId, command: data.type, outcome: outcome.kind, code }, 'command');
};

/** One line for each turn that a commit ends; its failure is there for whoever looks after the system, its text is not. */
export const tellOf = ({ key, rev, correlationId, causationId, events }: Commit, log: Logger): void => {
  for (const event of events) {
    if (event.type === 'turn_failed') log.warn({ key, rev, correlationId, causationId, code: event.code }, 'turn failed');
    else if (event.type === 'turn_completed') log.debug({ key, rev, correlationId, causationId }, 'turn completed');
    else if (event.type === 'turn_aborted') log.debug({ key, rev, correlationId, causationId }, 'turn aborted');
  }
};
