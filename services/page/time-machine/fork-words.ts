import { isNatters } from '../../../shared/domain/values/person-words.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { failureAdvice } from '../chat/failed.ts';
import { failedText } from '../chat/mark-texts.ts';
import type { Timeline } from '../past/timeline.ts';

const inOrder = new Intl.ListFormat('en-GB');

/** What the buttons of a fork say. At an error there may be both, and nobody is to take one for the other. */
export const forkHere = (timeline: Timeline, place: number): string =>
  timeline.errorAt(place) === undefined ? 'Fork from here' : 'Fork with the error';
export const forkBefore = (timeline: Timeline, place: number): string =>
  `Fork from before the message (commit ${timeline.numberAt(place)})`;

/** What a fork at the moment after `place` commits does, before it is done: two sentences, and what is special about this one. */
export const forkWords = (timeline: Timeline, place: number): readonly string[] => {
  const { turn, queue } = timeline.stateAfter(place).context;
  return [
    `This session goes on from commit ${timeline.numberAt(place)} (no new session is made)${laterWords(timeline, place)}. Its memories stay, and what tools have done is not undone.`,
    ...(turn !== null || queue.length > 0
      ? [`Its last question is not answered again by itself: ${nextWords(timeline, place)}`]
      : []),
    ...failureWords(timeline, place),
    ...undoWords(timeline, place),
  ];
};

/** A fork from what is the newest commit now goes on from there again. */
const undoWords = (timeline: Timeline, place: number): readonly string[] => {
  const newest = timeline.commits.length;
  return place < newest ? [`To take it back later, fork from commit ${timeline.numberAt(newest)}, the newest now.`] : [];
};

/** What to do about the last question: what another person has said cannot be said again by the page. */
const nextWords = (timeline: Timeline, place: number): string => {
  const last = timeline.saidBetween(0, place).findLast(({ role }) => role === 'user');
  return last?.sender?.role === 'participant'
    ? 'write on, or let its sender ask again.'
    : 'write on, or choose Try again below it.';
};

/** The messages that the agent knew after so many commits and at none of some other places, counted as the chat does: without Natter's own. */
const onlyKnownAt = (timeline: Timeline, place: number, ...others: readonly number[]): number => {
  const known = new Set(others.flatMap((other) => timeline.knownAt(other)).map(({ id }) => id));
  return timeline.knownAt(place).filter(({ id, sender }) => !known.has(id) && !isNatters(sender)).length;
};

/**
 * How much the agent knows now that it did not know then, such as a message that waited then, and how much it knew then that a fork or a reset
 * has left behind. What waits now is dropped.
 */
const laterWords = (timeline: Timeline, place: number): string => {
  const newest = timeline.commits.length;
  const later = onlyKnownAt(timeline, newest, place);
  const earlier = onlyKnownAt(timeline, place, newest);
  const { turn, queue } = timeline.stateAfter(newest).context;
  const waiting = turn === null ? 0 : queue.length;
  const them = later === 1 ? 'it' : 'them';
  const forgotten = later === 0 ? '' : `, and the agent forgets ${counted(later, 'message')} since then; the log keeps ${them}`;
  const dropped = `${waiting === 1 ? 'The message that waits in the queue is' : `The ${waiting} messages that wait in the queue are`} dropped`;
  const glue = forgotten === '' ? ', and ' : '. ';
  const comes = earlier === 1 ? 'comes' : 'come';
  const back = earlier === 0 ? '' : `${glue}${counted(earlier, 'message')} left behind ${comes} back`;
  return waiting === 0 ? `${forgotten}${back}` : `${forgotten}${back}. ${dropped}`;
};

/** Which answer failed at this moment or next, why, and what to do about it. */
const failureWords = (timeline: Timeline, place: number): readonly string[] => {
  for (const [index, { seq, events }] of timeline.commits.entries())
    for (const event of index < place - 1 || (index >= place && timeline.isLeft(seq)) ? [] : events)
      if (event.type === 'turn_failed') {
        const which = index < place ? 'The error at this commit' : 'The error left behind';
        const said = [failedText(event, timeline.modelAt(index)), failureAdvice(event)];
        return [`${which}: ${said.filter((words) => words !== null).join(' ')}`];
      }
  return [];
};

/** The model that somebody gave the session, which a fork keeps; `undefined`: it has the agent's own. */
export const givenModel = (timeline: Timeline): string | undefined =>
  timeline.stateAfter(timeline.commits.length).context.settings.model;

/** The place right before the message whose answer failed at a place, 0 if it was the first message; `null`: it is no such error. */
export const placeBeforeFailed = ({ commits }: Timeline, place: number): number | null => {
  const failure = commits[place - 1]?.events.find((event) => event.type === 'turn_failed');
  const before = commits.findIndex(({ events }) =>
    events.some((event) => event.type === 'user_message' && event.turnId !== undefined && event.turnId === failure?.turn.id),
  );
  return before < 0 ? null : before;
};

/**
 * What a fork at a place does with the answer that fails next, with its message, and with what was said after it. A message that was not being
 * answered yet is lost as well.
 */
export const leavesBehind = (timeline: Timeline, place: number): string => {
  const before = placeBeforeFailed(timeline, place + 1);
  const id = timeline.commits[place]?.events.find((event) => event.type === 'turn_failed')?.turn.id;
  const isKept = timeline.commits
    .slice(0, place)
    .some(({ events }) => events.some((event) => event.type === 'turn_started' && event.turn.id === id));
  const newest = timeline.commits.length;
  const later = onlyKnownAt(timeline, newest, place, Math.min(place + 1, newest));
  const left = [
    'the failed answer',
    ...(before === null || isKept ? [] : ['its message']),
    ...(later === 0 ? [] : [later === 1 ? 'the message after it' : `the ${later} messages after it`]),
  ];
  const kept = isKept ? '; its message stays' : '';
  return `. A fork from here goes on in this session, without ${inOrder.format(left)}${kept}`;
};
