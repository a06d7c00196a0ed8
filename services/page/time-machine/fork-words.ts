import { nextStep } from '../../../shared/domain/prompt/model-failure.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { failedText } from '../chat/mark-texts.ts';
import type { Timeline } from '../past/timeline.ts';

/** What a fork at the moment after `place` commits does, before it is done. */
export const forkWords = (timeline: Timeline, place: number): readonly string[] => {
  const later = timeline.saidBetween(place, timeline.commits.length).length;
  const errors = timeline.errorsBetween(place, timeline.commits.length);
  const { turn, queue } = timeline.stateAfter(place).context;
  return [
    later === 0
      ? `The session itself continues from this moment. Nothing was said after it${errors === 0 ? '' : ', but an answer failed'}.`
      : `The session itself continues from this moment: the agent forgets the ${counted(later, 'message')} after it. They stay in the log, and another fork can go back to them.`,
    ...(turn !== null || queue.length > 0
      ? ['The question of this moment is not answered again. Write on, or choose Try again below it.']
      : []),
    ...failureWords(timeline, place),
    'Nothing is executed again, and what tools have done is not undone.',
  ];
};

/** Which answer failed at this moment or next, why, and what to do about it: a fork keeps the model that the session was given. */
const failureWords = (timeline: Timeline, place: number): readonly string[] => {
  for (const [index, { events }] of timeline.commits.entries())
    for (const event of index < place - 1 ? [] : events)
      if (event.type === 'turn_failed') {
        const said = [failedText(event, timeline.modelAt(index)), nextStep(event.code), givenModel(timeline)];
        return said.filter((words) => words !== null);
      }
  return [];
};

const givenModel = (timeline: Timeline): string | null => {
  const { model } = timeline.stateAfter(timeline.commits.length).context.settings;
  return model === undefined
    ? null
    : `The fork keeps the model of this session: ${model}, set by /model. /model default takes the agent’s own again.`;
};
