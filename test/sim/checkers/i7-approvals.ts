import { callHash } from '../../../services/session/turn/call-hash.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { Checker, Effect, History } from '../history.ts';
import { natures } from '../world/tools.ts';
import { beginningOf, beginningsOf } from './i6-calls.ts';

interface Grant {
  readonly key: string;
  readonly seq: number;
  readonly request: EventOf<'approval_requested'>;
  readonly answer: EventOf<'approval_resolved'>;
}

/** I7: what a person must allow is done only as it was allowed: this call with these arguments, or the same for good, by who may say so. */
export const onlyWhatWasAllowed: Checker = (history) => {
  const begun = beginningsOf(history);
  const grants = grantsOf(history);
  const mustBeAsked = history.effects.filter(({ tool }) => natures[tool]?.usual === 'ask');
  return [
    ...grants
      .filter(({ answer }) => answer.by !== 'somebody' && !answer.by.startsWith('client-'))
      .map(({ answer }) => `${answer.by} allowed ${answer.approvalId}`),
    ...mustBeAsked.flatMap((effect) => {
      const begins = beginningOf(begun, effect);
      const isAllowed = grants.some((grant) => allows(grant, effect, begins?.event.approvalId));
      return isAllowed ? [] : [`${effect.host} made ${effect.callId} of ${effect.key} at ${effect.at}, which nobody allowed`];
    }),
  ];
};

const grantsOf = ({ commits }: History): Grant[] => {
  const requests = new Map<string, EventOf<'approval_requested'>>();
  return commits.flatMap(({ key, seq, events }) =>
    events.flatMap((event): Grant[] => {
      if (event.type === 'approval_requested') requests.set(event.approvalId, event);
      const request = event.type === 'approval_resolved' ? requests.get(event.approvalId) : undefined;
      return event.type === 'approval_resolved' && event.verdict === 'granted' && request
        ? [{ key, seq, request, answer: event }]
        : [];
    }),
  );
};

const allows = ({ key, seq, request, answer }: Grant, effect: Effect, approvalId: string | undefined): boolean => {
  const isBound = request.hash === callHash(effect.tool, effect.arguments) && key === effect.key && seq <= effect.at;
  return isBound && (approvalId === answer.approvalId ? request.callId === effect.callId : answer.scope === 'always');
};
