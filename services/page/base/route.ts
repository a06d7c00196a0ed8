import { computed, signal } from '@preact/signals';

/** Where the page is: kept in the fragment of the address, so that every place has a link and the server needs one file. */
export interface Route {
  /** The parts of the path, decoded: `['sessions', 'agent:main:main', 'chat']`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The route in a fragment such as `#/sessions/agent%3Amain%3Amain/chat?status=running`. */
const routeIn = (fragment: string): Route => {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?', 2);
  const parts = path.split('/').filter((part) => part !== '');
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
};

/** The fragment of a route. Empty parameters are left out. */
export const linkTo = (path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  const text = String(new URLSearchParams(given));
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
};

const fragment = signal('');
export const route = computed(() => routeIn(fragment.value));

/** The fragment of the view that is shown, which is behind the address for a moment after it has changed. */
export const shownAddress = (): string => fragment.peek();

/** Follows the address from now on. */
export const followAddress = (): void => {
  const read = (): void => {
    fragment.value = location.hash;
  };
  addEventListener('hashchange', read);
  read();
};

/** In place of a sequence, as the moment of a time machine: the first answer that failed. */
export const firstFailed = 'first-failed';

/** In place of a sequence, before the number of a commit in its session. */
export const commitPlace = 'commit-';

export const go = (path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void => {
  location.hash = linkTo(path, query);
};

/** What filters and groups the list of sessions: kept on the way from one session, or one view of it, to another. */
export const listQuery = (): Readonly<Record<string, string | undefined>> => {
  const { status, q, label, unread, group } = route.value.query;
  return { status, q, label, unread, group };
};

/** Changes parameters of the address without a step in the history. */
export const changeQuery = (changes: Readonly<Record<string, string | undefined>>): void => {
  // Somebody has just gone elsewhere, which the page hears of in a moment: that way counts.
  if (location.hash !== shownAddress()) return;
  const { path, query } = route.value;
  history.replaceState(history.state, '', linkTo(path, { ...query, ...changes }));
  fragment.value = location.hash;
};
