import type { NatterEvent } from '../../../shared/client/main.ts';
import { restartWords } from '../../../shared/domain/projections/rewind-words.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { isAskedFor, type ResetCause } from '../../../shared/domain/values/expiry.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { failureText } from '../parts/event-words.ts';
import { generationWords, knownAfterFork, leaverWords } from '../parts/reset-words.ts';
import { branchesOff, leftByAfter } from '../past/left-behind.ts';
import type { ChatItem, MarkItem } from './chat-model.ts';
import { noReason } from './mark-texts.ts';

/** What resets and forks are in a chat. */

const nothingKnown = 'The agent no longer knows what is above';
const [nothingWasKnown, wasKnownAfterFork] = [
  'The agent no longer knew what is above',
  'the agent knew the conversation up to there',
];

/** How somebody asked for a reset, after who did, and what it means for the agent. */
const askedHow = ({ trigger, rule }: ResetCause): string => {
  if (trigger === 'command') return ` with the chat command ${rule}: this session begins anew. ${nothingKnown}`;
  return restartWords(rule) === null && rule !== noReason ? `: ${rule}. ${nothingKnown}` : `. ${nothingKnown}`;
};

/** Who asked for a reset and how, none for one that a rule made; and where more of it is to be seen. */
export const resetDetails = (event: EventOf<'session_reset'> & Pick<NatterEvent, 'actor'>) => {
  const { cause, actor, forkedFrom, previousSessionId } = event;
  return {
    ...(forkedFrom && { by: { actor, rest: `: ${knownAfterFork}` } }),
    ...(!forkedFrom && cause && isAskedFor(cause) && { by: { actor, rest: askedHow(cause) } }),
    leaver: leaverWords(event),
    leadsTo: branchesOff(event) ? ('fork' as const) : ('moment' as const),
    ...(!forkedFrom && { isBeginning: true, endedSessionId: previousSessionId }),
  };
};

/** What a mark says, and after who asked for it: in the past tense once it was left behind, as it no longer holds. */
export const markWords = ({ text, by, leftBy }: Pick<MarkItem, 'text' | 'by' | 'leftBy'>) => {
  const told = (words: string): string =>
    leftBy === undefined ? words : words.replace(nothingKnown, nothingWasKnown).replace(knownAfterFork, wasKnownAfterFork);
  return { text: told(text), rest: by && told(by.rest) };
};

/** Why a generation began. Of one that somebody asked for, who did follows, and how. */
export const resetMark = (event: EventOf<'session_reset'>): string => {
  const { cause, forkedFrom } = event;
  if (forkedFrom) return generationWords(event);
  if (cause === undefined || !isAskedFor(cause)) return `${generationWords(event)}. ${nothingKnown}`;
  return restartWords(cause.rule) ?? 'Reset';
};

/** The items after the checkpoint of a conversation that a reset has ended: where that has failed, the reset says so, until another one is done. */
export const afterCheckpoint = (
  items: readonly ChatItem[],
  event: NatterEvent & EventOf<'introspected' | 'introspection_failed'>,
): readonly ChatItem[] => {
  const unremembered = event.type === 'introspected' ? undefined : { why: failureText(event), seq: event.seq };
  const at = items.findLastIndex((item) => item.kind === 'mark' && item.endedSessionId === event.sessionId);
  const reset = items[at];
  return reset?.kind === 'mark' && (unremembered ?? reset.unremembered) ? items.with(at, { ...reset, unremembered }) : items;
};

/** Whether a notice says that a setting was changed, as by `/model`: a fork keeps it. */
export const saysSetting = ({ notice: { code } }: EventOf<'notice'>): boolean =>
  code === 'setting_changed' || code === 'model_taken' || code === 'send_policy';

/**
 * The items with those marked that are left behind: by a fork all that its conversation does not read (B21), by a reset that begins again from
 * the first message all of it.
 */
export const afterReset = (items: readonly ChatItem[], event: NatterEvent & EventOf<'session_reset'>): readonly ChatItem[] => {
  if (!branchesOff(event)) return items;
  const { seq, at } = event;
  const resets = items.flatMap((item) =>
    item.kind === 'mark' && item.isBeginning && item.leftBy === undefined ? [item.seq] : [],
  );
  const leftBy = leftByAfter(event, seq, resets);
  return items.map((item) => {
    const before = item.seq === seq ? seq : item.leftBy;
    const fork = item.kind === 'mark' && item.isOfSetting ? undefined : leftBy(item.seq, before);
    const isLeft = (end: number | undefined): boolean =>
      end !== undefined && fork === undefined && leftBy(end, undefined) !== undefined;
    const kept = fork === item.leftBy ? item : { ...item, leftBy: fork };
    // An answer or a result that the fork leaves behind does not count, unless a later fork brings it back.
    if (kept.kind === 'approval' && kept.answer)
      return { ...kept, unanswered: isLeft(kept.answer.seq) ? { by: 'forked', seq, at } : undefined };
    return kept.kind === 'tool' && kept.endedSeq !== undefined ? { ...kept, isUndone: isLeft(kept.endedSeq) } : kept;
  });
};

/**
 * Whether the agent knew a message, as the time machine counts them: not an answer that was stopped, of which nothing is recorded, nor a
 * message that waits or was dropped. What an answer said before its calls is a part of it.
 */
const isKnown = (item: ChatItem): boolean =>
  item.kind === 'said' && !item.isStopped && !item.isQueued && !item.isDropped && !item.isPart;

/** How much of what the agent knew is among these items: `2 messages, 1 call`; empty: none of it. */
export const countsOf = (items: readonly ChatItem[]): string => {
  const [said, calls, failures] = [
    items.filter(isKnown).length,
    items.filter(({ kind }) => kind === 'tool').length,
    items.filter((item) => item.kind === 'mark' && item.tone === 'bad').length,
  ];
  const parts = [
    ...(said > 0 ? [counted(said, 'message')] : []),
    ...(calls > 0 ? [counted(calls, 'call')] : []),
    ...(failures > 0 ? [counted(failures, 'failure')] : []),
  ];
  return parts.join(', ');
};

/** The items in runs of those that one fork or reset left behind, and those that none did. */
export const runsOf = (items: readonly ChatItem[]): ChatItem[][] => {
  const runs: ChatItem[][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last && last[0]?.leftBy === item.leftBy) last.push(item);
    else runs.push([item]);
  }
  return runs;
};

/** What left a run of these items behind, and how much. */
export const leftWords = (run: readonly ChatItem[], items: readonly ChatItem[]): string => {
  const [leaver] = items.flatMap((item) => (item.kind === 'mark' && item.seq === run[0]?.leftBy ? (item.leaver ?? []) : []));
  const isUnread = run.some((item) => item.kind === 'said' && (item.isDropped || item.isQueued));
  return `Left behind by ${leaver}: ${countsOf(run) || (isUnread ? 'what the agent never read' : 'nothing that the agent knew')}`;
};
