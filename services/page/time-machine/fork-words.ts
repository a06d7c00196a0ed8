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
      ? `This session goes on from this moment; no second one is made. Nothing was said after it${errors === 0 ? '' : ', but an answer failed'}.`
      : `This session goes on from this moment; no second one is made. The agent forgets the ${counted(later, 'message')} after it. They stay in the log, and another fork can go back to them.`,
    `The agent knows the conversation up to commit ${place}, as it was then. Its long-term memories stay as they are now.`,
    ...(turn !== null || queue.length > 0
      ? ['Its last question is not answered again by itself: write on, or choose Try again below it.']
      : []),
    ...failureWords(timeline, place),
    'Nothing is executed again, and what tools have done is not undone.',
  ];
};

/** Which answer failed at this moment or next, why, and what to do about it. */
const failureWords = (timeline: Timeline, place: number): readonly string[] => {
  for (const [index, { events }] of timeline.commits.entries())
    for (const event of index < place - 1 ? [] : events)
      if (event.type === 'turn_failed') {
        const said = [failedText(event, timeline.modelAt(index)), nextStep(event)];
        return said.filter((words) => words !== null);
      }
  return [];
};

/** The model that somebody gave the session, which a fork keeps; `undefined`: it has the agent's own. */
export const givenModel = (timeline: Timeline): string | undefined =>
  timeline.stateAfter(timeline.commits.length).context.settings.model;
