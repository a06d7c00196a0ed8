import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { isNatters } from '../../../shared/domain/values/person-words.ts';
import { linkTo, listQuery } from '../base/route.ts';
import { Icon } from '../parts/icon.tsx';
import type { Past } from '../past/past.ts';
import { lastSaid } from '../past/said.ts';

/** How many lines back the last one is looked for that people said, not Natter. */
const lookedAt = 10;

/** Leads to the chat, at the last message of the chosen moment. */
export const ChatLink = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const { lines } = lastSaid(past.timeline.commits, past.place.value, state.position, lookedAt);
  const last = lines.findLast(({ sender }) => !isNatters(sender));
  return (
    <a class="button button-quiet" href={linkTo(['sessions', past.key, 'chat'], { ...listQuery(), said: last?.id })}>
      <Icon name="sessions" /> Show in the chat
    </a>
  );
};
