import { fold, initialState, type SessionState } from '../../../shared/session/evolve.ts';
import { byKey, type Checker } from '../history.ts';

/** I10: once faults have healed all accepted work comes to its end: nothing waits, nothing runs. */
export const everythingComesToAnEnd: Checker = (history) => [
  ...(history.unfinished > 0 ? [`${history.unfinished} commands are still in the queue`] : []),
  ...[...byKey(history)].flatMap(([key, commits]) => {
    try {
      const { machine } = commits.reduce<SessionState>(fold, initialState);
      return machine.value === 'running' ? [`${key}: turn ${machine.context.turn?.id} runs for ever`] : [];
    } catch {
      // What cannot be folded is the business of I3 and I4.
      return [];
    }
  }),
];
