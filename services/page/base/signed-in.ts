import { signal } from '@preact/signals';
import { type Caller, createClient, NatterApiError, type NatterClient, type Role } from '../../../shared/client/main.ts';
import { fragmentOfLink, tokenOfLink } from '../../../shared/kit/text/share-link.ts';
import { go } from './route.ts';

/** Who is signed in, in this tab. The token is in memory and in the session storage, which belongs to this tab and origin alone. */

const stored = 'natter-token';
let token = '';
/** The tab was opened by a link to a shared session. It is kept as that link. */
let isLink = false;

/** `null`: nobody. `undefined`: not known yet. */
export const who = signal<Caller | null | undefined>(undefined);
/** Why nobody is signed in, if there is more to say than that. */
export const signInProblem = signal<string | null>(null);
/** The link to a shared session by which somebody came opens nothing any more. */
export const isLinkOver = signal(false);

export const client: NatterClient = createClient({ url: location.origin, token: () => token });

/** The text at a path of the gateway that does not answer with JSON. */
export const readText = async (path: string, signal: AbortSignal): Promise<string> => {
  const response = await fetch(path, { headers: { authorization: `Bearer ${token}` }, signal, cache: 'no-store' });
  if (response.ok) return response.text();
  throw new NatterApiError(response.status, { detail: `the gateway answered ${response.status} at ${path}` });
};

/** Whether somebody has signed out here, and nobody in again. */
export const isSignedOut = signal(false);

const forget = (problem: string | null, isOver = false): void => {
  // Whatever went wrong since is told instead.
  if (problem !== null) isSignedOut.value = false;
  token = '';
  isLinkOver.value = isOver;
  sessionStorage.removeItem(stored);
  signInProblem.value = problem;
  who.value = null;
};

const inWords = (error: unknown): string =>
  error instanceof NatterApiError ? error.detail : error instanceof Error ? error.message : String(error);
const isRefused = (error: unknown): boolean => error instanceof NatterApiError && error.status === 401;

/** Signs in with a token. Never throws: the problem is in `signInProblem`. */
export const signInWith = async (given: string, byLink = false): Promise<void> => {
  token = given.trim();
  isLink = byLink;
  try {
    const me = await client.get<Caller>('/v1/me', { patienceMs: 3_000 });
    sessionStorage.setItem(stored, isLink ? fragmentOfLink(token) : token);
    signInProblem.value = null;
    isLinkOver.value = false;
    isSignedOut.value = false;
    who.value = me;
  } catch (error) {
    forget(inWords(error), isLink && isRefused(error));
  }
};

const codeIn = (fragment: string): string | undefined => /^#code=(.+)$/.exec(fragment)?.[1];
export const isSignInLink = (): boolean => codeIn(location.hash) !== undefined || tokenOfLink(location.hash) !== undefined;

/**
 * Trades the one-time code of `natter open` for a token, or takes the token out of a link to a shared session. Both leave the address before
 * anything else happens.
 */
export const signInFromAddress = async (): Promise<void> => {
  const [code, shared] = [codeIn(location.hash), tokenOfLink(location.hash)];
  if (shared !== undefined) {
    history.replaceState(null, '', location.pathname);
    return signInWith(shared, true);
  }
  if (code !== undefined) {
    history.replaceState(null, '', location.pathname);
    const response = await fetch('/v1/page/login', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, referrerPolicy: 'no-referrer' },
      body: JSON.stringify({ code }),
    }).catch(() => null);
    const answer = (await response?.json().catch(() => null)) as { token?: string; detail?: string } | null | undefined;
    if (answer?.token !== undefined) return signInWith(answer.token);
    return forget(answer?.detail ?? 'the gateway does not answer; is it running?');
  }
  const kept = sessionStorage.getItem(stored);
  if (kept === null) return forget(null);
  const keptLink = tokenOfLink(kept);
  return signInWith(keptLink ?? kept, keptLink !== undefined);
};

/** Signs out: a token of this page is revoked, a pasted one is forgotten. */
export const signOut = async (): Promise<void> => {
  if (who.value?.isPage) await client.post('/v1/page/logout', {}).catch(() => {});
  forget(null);
  isSignedOut.value = true;
  go([]);
};

/** Called with any error of a call: a token that is no longer valid signs out. Returns it in words. */
export const problemOf = (error: unknown): string => {
  const text = inWords(error);
  if (isRefused(error) && who.value) forget(text, isLink);
  return text;
};

/** Called with why the events of a link's session ended: where that session was deleted, the link opens nothing any more. */
export const endLink = (error: unknown): void => {
  if (isViewer() && error instanceof NatterApiError && error.code === 'not_found') forget(inWords(error), true);
};

export const mayWrite = (): boolean => mayAnswer() && !isApprover();
/** Who may answer approvals, and do and see nothing else. */
export const isApprover = (): boolean => who.value?.role === 'approver';
/** Who reads the one session of their link. */
export const isViewer = (): boolean => who.value?.role === 'viewer';
export const mayAnswer = (): boolean => who.value != null && who.value.role !== 'read-only' && !isViewer();

/** Whom a view is for. Those below one see what it shows as well; all others it would only refuse. */
const audiences = {
  administrator: ['admin'],
  owner: ['admin', 'owner'],
  reader: ['admin', 'owner', 'read-only'],
  person: ['admin', 'owner', 'read-only', 'participant'],
  channel: ['admin', 'owner', 'read-only', 'participant', 'channel'],
  everybody: ['admin', 'owner', 'read-only', 'participant', 'channel', 'approver'],
} as const satisfies Record<string, readonly Role[]>;
export type Audience = keyof typeof audiences;
/** Whether a view that is for some is for who is signed in. */
export const isFor = (audience: Audience): boolean =>
  who.value != null && (audiences[audience] as readonly Role[]).includes(who.value.role);
/** Sharing a session is making a token. */
export const mayShare = (): boolean => isFor('administrator');
