import { render } from 'preact';
import { followApprovals } from './approvals/approval-list.ts';
import { followBack } from './base/back.ts';
import { noteRecorded } from './base/new-chat.ts';
import { keepTime } from './base/now.ts';
import { followAddress } from './base/route.ts';
import { isSignInLink, signInFromAddress } from './base/signed-in.ts';
import { followEvents, onEvent } from './base/system-events.ts';
import { restoreTheme } from './base/theme.ts';
import { resumeSending } from './chat/sending.ts';
import { refuseOtherDrops } from './files/drop.ts';
import { followNames } from './finding/known-names.ts';
import { followSearch, forgetDeleted } from './sessions/found-messages.tsx';
import { changed, followList, rows } from './sessions/session-list.ts';
import { Shell } from './shell.tsx';
import { followShortcuts } from './shortcuts/shortcuts.tsx';

// The code, or the token of a link, leaves the address before anything reads it.
const signedIn = signInFromAddress();
// A link that is opened where the page is open already changes the fragment alone.
addEventListener('hashchange', () => {
  if (isSignInLink()) void signInFromAddress();
});
restoreTheme();
followAddress();
followBack();
refuseOtherDrops();
keepTime();
const root = document.getElementById('page');
if (root) render(<Shell />, root);
await signedIn;
resumeSending();
onEvent(changed);
onEvent(forgetDeleted);
onEvent(noteRecorded);
followList();
followNames(rows);
followSearch();
followApprovals();
followEvents();
followShortcuts();
