import { approvals } from '../approvals/approval-list.ts';
import { linkTo, route } from '../base/route.ts';
import { unsentIn } from '../chat/outgoing.ts';
import { lastFailed, statusWords } from '../parts/status.tsx';
import { type Filter, failedCount, isUnfiltered, mostFailed } from './session-list.ts';

/** How many sessions need a person, wherever they are in the list; each count leads to the filter that shows them. */
export const NeedsYou = () => {
  const asking = new Set(approvals.value?.map(({ sessionKey }) => sessionKey)).size;
  const failed = failedCount.value;
  const unsent = unsentIn.value;
  if (!isUnfiltered.value) return null;
  // It has its place even while nothing does, so that no row moves when a count appears.
  if (asking + failed + unsent.length === 0)
    return <p class="needs-you hint">{approvals.value !== null && 'Nothing waits for you'}</p>;
  const { path, query } = route.value;
  const link = (status: Filter, style: string, words: string, count: number | string) => (
    <a class={`badge ${style}`} href={linkTo(path, { ...query, status })}>
      <span>{words}</span> <b>{count}</b>
    </a>
  );
  return (
    <nav class="needs-you" aria-label="Needs you">
      {unsent[0] !== undefined && (
        <a class="badge badge-fail" href={linkTo(['sessions', unsent[0], 'chat'])}>
          Message not sent <b>{unsent.length}</b>
        </a>
      )}
      {failed > 0 && link('failed', 'badge-fail', lastFailed, failed < mostFailed ? failed : `${mostFailed} or more`)}
      {asking > 0 && link('awaiting_approval', 'badge-awaiting_approval', statusWords.awaiting_approval, asking)}
    </nav>
  );
};
