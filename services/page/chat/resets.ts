import type { NatterEvent } from '../../../shared/client/main.ts';
import { restartWords } from '../../../shared/domain/projections/rewind-words.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ResetCause } from '../../../shared/domain/values/expiry.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { failureText } from '../parts/event-words.ts';
import { generationWords, knownAfterFork } from '../parts/reset-words.ts';
import type { ChatItem } from './chat-model.ts';

/** What resets and forks are in a chat. */

/** Whether somebody asked for a reset, and not for another beginning: that says by itself what was done. */
const isAsked = (cause: ResetCause | undefined): cause is ResetCause =>
  cause?.trigger === 'command' || (cause?.trigger === 'api' && restartWords(cause.rule) === null);
const nothingKnown = 'The agent no longer knows what is above';

/** Who asked for a reset and how, none for one that a rule made; and what its moment explains. */
export const resetDetails = ({
  cause,
  actor,
  forkedFrom,
  previousSessionId,
}: EventOf<'session_reset'> & Pick<NatterEvent, 'actor'>) => ({
  ...(isAsked(cause) && {
    by: {
      actor,
      rest:
        cause.trigger === 'command'
          ? ` with the chat command ${cause.rule}. It is still this session. ${nothingKnown}`
          : `: ${cause.rule}. ${nothingKnown}`,
    },
  }),
  explains: forkedFrom ? ('fork' as const) : ('moment' as const),
  ...(!forkedFrom && { isBeginning: true, endedSessionId: previousSessionId }),
});

/** Why a generation began. Of one that somebody asked for, who did follows. */
export const resetMark = (event: EventOf<'session_reset'>): string => {
  if (event.forkedFrom) return `${generationWords(event)}: ${knownAfterFork}`;
  return isAsked(event.cause) ? 'Reset' : `${generationWords(event)}. ${nothingKnown}`;
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

/** The items with those marked that a fork leaves behind: all that its conversation does not read (B21). */
export const afterReset = (
  items: readonly ChatItem[],
  { seq, forkedFrom: base }: NatterEvent & EventOf<'session_reset'>,
): readonly ChatItem[] => {
  if (!base) return items;
  const skips = [...base.skips, { after: base.seq, until: seq }];
  const isLeft = (item: ChatItem) =>
    !(item.kind === 'mark' && item.isOfSetting) && skips.some(({ after, until }) => item.seq > after && item.seq <= until);
  return items.map((item) =>
    item.seq >= base.contextSeq && isLeft(item) !== (item.isLeft ?? false) ? { ...item, isLeft: isLeft(item) } : item,
  );
};

/** Whether something was said and kept: of an answer that was stopped nothing is recorded. */
const isKept = (item: ChatItem): boolean => item.kind === 'said' && item.isStopped !== true;

/** How much of what counts is among these items: `2 messages, 1 call`; empty: none of it. */
export const countsOf = (items: readonly ChatItem[]): string => {
  const [said, calls, failures] = [
    items.filter(isKept).length,
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

/** What a fork left behind, in numbers. */
export const leftWords = (items: readonly ChatItem[]): string =>
  `Left behind by the fork: ${countsOf(items) || 'nothing that was said'}`;
