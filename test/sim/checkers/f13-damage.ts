import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { type Checker, decisionsOf, type History } from '../history.ts';

/**
 * F13: a session that was loaded from a history with a gap takes one commit, a person's decision. Who had loaded it before knows its state and
 * may go on until it loads it again; so may who loads it from a snapshot beyond a commit that the broker still counts. And nobody decides
 * about a session that is whole.
 */
export const damageIsReadOnly: Checker = (history) => {
  const damages = decisionsOf(history);
  return history.commits.flatMap((commit) => {
    const { key, seq, events } = commit;
    const open = damages.filter((damage) => damage.key === key && damage.at < seq && seq <= damage.until);
    if (events[0]?.type === 'history_damaged')
      return open.length > 0 ? [] : [`${key}: a decision about damage at ${seq}, and no commit was damaged`];
    const last = lastLoad(history, commit);
    const rev = history.loads[last]?.rev ?? 0;
    return open
      .filter((damage) => last >= damage.loads && (rev <= damage.rev || damage.how === 'missing'))
      .map(
        (damage) => `${key}: ${commit.id} at ${seq} stands on rev ${damage.rev}, which was ${damage.how} when its host loaded it`,
      );
  });
};

/** The last load before a commit was sent, by its host; -1: none. The ids of commits begin with the names of their hosts. */
const lastLoad = ({ loads, writes }: History, { id, key }: RecordedCommit): number =>
  loads.slice(0, writes.get(id)).findLastIndex((load) => load.key === key && id.startsWith(`${load.host}-`));
