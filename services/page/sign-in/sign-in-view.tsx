import { useState } from 'preact/hooks';
import { linkTo } from '../base/route.ts';
import { isLinkOver, isSignedOut, signInProblem, signInWith } from '../base/signed-in.ts';
import { asSentence } from '../parts/one-line.ts';

/** Where nobody is signed in: the command that opens the page, or a token to paste. */
export const SignInView = () => {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isSaid = signInProblem.value !== null && !isLinkOver.value;
  const signIn = async (): Promise<void> => {
    setBusy(true);
    await signInWith(token);
    setBusy(false);
  };
  return (
    <main class="sign-in" id="main">
      <div class="sign-in-card">
        <svg class="mark-large" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="9" />
          <path d="M9 22V10.500c0-.9 1.100-1.300 1.700-.6l10.600 12.200c.6.7 1.700.3 1.700-.6V10" />
        </svg>
        <h1>Natter</h1>
        {isSignedOut.value && <p role="status">You are signed out.</p>}
        {isLinkOver.value && (
          <p class="approval-problem" role="alert">
            This link to a shared session no longer works: it has expired, it was revoked, or the session was deleted. Ask whoever
            gave it to you.
          </p>
        )}
        <p>
          {isLinkOver.value && 'Or, if Natter is yours: '}Open this page from a terminal on the machine where Natter runs. The
          link works once, within 60 seconds:
        </p>
        <pre>natter open</pre>
        <p class="hint">Each tab signs in by itself: run the command again for another one, or paste a token there.</p>
        <p class="hint">
          An exported file can be read without signing in: <a href={linkTo(['export'])}>open one</a>.
        </p>
        {isSaid && (
          <p class="approval-problem" role="alert">
            {asSentence(signInProblem.value ?? '')}
          </p>
        )}
        <details open={isSaid}>
          <summary>Or paste an access token</summary>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void signIn();
            }}
          >
            <label>
              <span>Access token</span>
              <input
                type="password"
                autocomplete="current-password"
                value={token}
                onInput={(event) => setToken(event.currentTarget.value)}
              />
            </label>
            <button type="submit" class="button button-first" disabled={token.trim() === '' || isBusy}>
              {isBusy ? 'Signing in…' : 'Sign in'}
            </button>
            <p class="hint">It stays in this tab until you sign out or close it.</p>
          </form>
        </details>
      </div>
    </main>
  );
};
