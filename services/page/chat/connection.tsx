import { counted } from '../../../shared/kit/text/counted.ts';
import { streamWaits } from '../base/system-events.ts';
import { Problem } from '../parts/empty.tsx';
import type { ChatStore } from './chat-store.ts';

/** What went wrong in a chat, and whether its events come. While the whole page waits for a gateway, the page says so. */
export const Connection = ({ store: { problem, waiting, caughtUp, outgoing } }: { readonly store: ChatStore }) => {
  if (streamWaits.value !== null) return null;
  const unsent = outgoing.value.filter((one) => one.problem !== null).length;
  return (
    <>
      {problem.value !== null && <Problem text={problem.value} />}
      {waiting.value !== null && (
        <p class="waiting" role="status" title={waiting.value}>
          No connection to this chat. The page keeps trying, and goes on by itself.
        </p>
      )}
      {waiting.value === null && caughtUp.value !== null && (
        <p class="waiting waiting-over" role="status">
          {caughtUp.value} {unsent === 0 ? 'Nothing is missing.' : `Not sent: ${counted(unsent, 'message')}, below.`}
        </p>
      )}
    </>
  );
};
