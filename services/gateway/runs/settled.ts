import { isOver, type Run } from '../../../shared/domain/projections/run.ts';

/** True for a run that goes on only when somebody else says something: it is over, or waits for a person or for results of a program's tools. */
export const isSettled = (run: Run | null): boolean =>
  isOver(run) || run?.status === 'awaiting_approval' || run?.status === 'awaiting_results';
