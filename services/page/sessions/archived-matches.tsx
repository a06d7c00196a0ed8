import { useEffect, useState } from 'preact/hooks';
import type { SessionPage } from '../../../shared/client/main.ts';
import { changeQuery } from '../base/route.ts';
import { client } from '../base/signed-in.ts';
import { filter, label, search } from './session-list.ts';

const most = 100;

/** Where nothing active matches: how many archived sessions do, one click away. */
export const ArchivedMatches = () => {
  const [count, setCount] = useState(0);
  const [words, wanted, status] = [search.value, label.value, filter.value];
  useEffect(() => {
    setCount(0);
    if (status !== 'active') return undefined;
    const controller = new AbortController();
    const query = { limit: most, status: 'inactive', q: words || undefined, label: wanted || undefined };
    client.get<SessionPage>('/v1/sessions', { query, signal: controller.signal }).then(
      ({ sessions }) => setCount(sessions.length),
      // The list itself says what is wrong.
      () => {},
    );
    return () => controller.abort();
  }, [words, wanted, status]);
  if (count === 0) return null;
  return (
    <button type="button" class="button button-first" onClick={() => changeQuery({ status: 'inactive' })}>
      Show {count === most ? `${most} or more` : count} archived
    </button>
  );
};
