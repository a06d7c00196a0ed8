import { type Checker, damagedKeys, foldsOf } from '../history.ts';

/** I10: once faults have healed all accepted work comes to its end: nothing waits, nothing runs but in a session that is read-only (F13). */
export const everythingComesToAnEnd: Checker = (history) => {
  if (history.isCut) return [];
  const readOnly = damagedKeys(history);
  return [
    ...(history.unfinished > 0 ? [`${history.unfinished} commands are still in the queue`] : []),
    ...[...foldsOf(history)].flatMap(([key, { states }]) => {
      const machine = states.at(-1)?.machine;
      return machine?.value === 'running' && !readOnly.has(key) ? [`${key}: turn ${machine.context.turn?.id} runs for ever`] : [];
    }),
  ];
};
