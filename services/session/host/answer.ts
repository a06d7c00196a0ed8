import type { CommandAnswer, CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Outcome } from './outcome.ts';

/** The answer to the sender of a command. */
export const answerOf = ({ id: commandId }: CommandEnvelope, outcome: Outcome): CommandAnswer => {
  switch (outcome.kind) {
    case 'accepted':
      return { commandId, outcome: 'accepted', seq: outcome.seq, rev: outcome.rev };
    case 'refused':
      return { commandId, outcome: 'refused', code: outcome.code, message: outcome.message };
    case 'nothing':
    case 'duplicate':
      return { commandId, outcome: outcome.kind };
    case 'stale':
    case 'uncommitted':
      return { commandId, outcome: 'refused', code: 'unavailable', message: 'not recorded yet; it will be tried again' };
  }
};
