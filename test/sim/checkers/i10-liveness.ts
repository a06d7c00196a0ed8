import { type Checker, foldsOf } from '../history.ts';

/** I10: once faults have healed all accepted work comes to its end: nothing waits, nothing runs. */
export const everythingComesToAnEnd: Checker = (history) => [
  ...(history.unfinished > 0 ? [`${history.unfinished} commands are still in the queue`] : []),
  ...[...foldsOf(history)].flatMap(([key, { states }]) => {
    const machine = states.at(-1)?.machine;
    return machine?.value === 'running' ? [`${key}: turn ${machine.context.turn?.id} runs for ever`] : [];
  }),
];
