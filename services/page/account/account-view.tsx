import type { Role } from '../../../shared/client/main.ts';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { now } from '../base/now.ts';
import { signOut, who } from '../base/signed-in.ts';
import { chooseTheme, theme, themes } from '../base/theme.ts';
import { Icon } from '../parts/icon.tsx';
import { showShortcuts } from '../shortcuts/choice.ts';

const roleWords: Readonly<Record<Role, string>> = {
  admin: 'Administrator: sees and does everything, and manages tokens',
  owner: 'Owner: sees and does everything',
  'read-only': 'Reader: sees everything and changes nothing',
  approver: 'Approver: answers what waits for a person',
  participant: 'Participant: the sessions of one person',
  channel: 'Channel: the sessions of one channel',
  viewer: 'Viewer: reads one session that somebody shared',
};

/** Who is signed in, for how long, and how the page looks. */
const AccountView = () => {
  const me = who.value;
  if (!me) return null;
  return (
    <section class="pane account" aria-labelledby="account-title">
      <header class="pane-head">
        <h1 id="account-title">You</h1>
      </header>
      <dl class="facts">
        <dt>Role</dt>
        <dd>{roleWords[me.role]}</dd>
        {me.signedInBy !== undefined && (
          <>
            <dt>Signed in by</dt>
            <dd>
              {me.signedInBy === 'token:api' ? (
                'The token of this installation: whoever holds it is the owner'
              ) : (
                <code>{me.signedInBy}</code>
              )}
            </dd>
          </>
        )}
        <dt>Name in the log</dt>
        <dd>
          <code>{me.actor}</code>
        </dd>
        <dt>Time left</dt>
        <dd>{me.expiresAt === undefined ? 'No end' : spanText(Math.max(0, me.expiresAt - now.value))}</dd>
      </dl>
      <fieldset class="themes">
        <legend>Appearance</legend>
        {themes.map((each) => (
          <label key={each}>
            <input type="radio" name="theme" checked={theme.value === each} onChange={() => chooseTheme(each)} />
            <span>{each === 'system' ? 'Same as system' : each === 'light' ? 'Light' : 'Dark'}</span>
          </label>
        ))}
      </fieldset>
      <button type="button" class="button show-shortcuts" onClick={showShortcuts}>
        Keyboard shortcuts <kbd>?</kbd>
      </button>{' '}
      <button type="button" class="button" onClick={() => void signOut()}>
        <Icon name="out" /> Sign out
      </button>
      <p class="hint">
        {me.isPage
          ? 'Signing out ends the access of this tab at once. Your other tabs stay signed in.'
          : 'Signing out forgets the token in this tab. The token itself stays valid.'}
      </p>
    </section>
  );
};
export default AccountView;
