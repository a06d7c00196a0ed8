import { counted } from '../../../shared/kit/text/counted.ts';
import type { Timeline } from '../past/timeline.ts';

/** What a fork at the moment after `place` commits does, before it is done. */
export const forkWords = (timeline: Timeline, place: number): readonly string[] => {
  const later = timeline.saidBetween(place, timeline.commits.length).length;
  const { turn, queue } = timeline.stateAfter(place).context;
  return [
    later === 0
      ? 'The session itself continues from this moment. Nothing was said after it.'
      : `The session itself continues from this moment: the agent forgets the ${counted(later, 'message')} after it. They stay in the log, and another fork can go back to them.`,
    ...(turn !== null || queue.length > 0
      ? ['The question of this moment is not answered again. Write on, or choose Try again below it.']
      : []),
    'Nothing is executed again, and what tools have done is not undone.',
  ];
};
