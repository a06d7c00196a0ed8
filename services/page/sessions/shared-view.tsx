import { route } from '../base/route.ts';
import { streamProblem, streamWaits } from '../base/system-events.ts';
import { Announcements } from '../parts/announce.tsx';
import { Time } from '../parts/time.tsx';
import { SessionView } from './session-view.tsx';

interface SharedViewProps {
  readonly sessionKey: string;
  readonly expiresAt: number | undefined;
}

/** The whole page of who came by a link: the session, whatever else the address says. */
export const SharedView = ({ sessionKey, expiresAt }: SharedViewProps) => {
  const [, key, tab = 'chat'] = route.value.path;
  document.title = 'Shared session · Natter';
  return (
    <main id="main" class="alone" tabIndex={-1}>
      <p class="shared-note">
        You are reading a shared session.
        {expiresAt !== undefined && (
          <>
            {' '}
            The link works until <Time at={expiresAt} exact />.
          </>
        )}
      </p>
      {streamProblem.value !== null && (
        <p class="waiting" role="status" title={streamWaits.value ?? undefined}>
          {streamProblem.value}
        </p>
      )}
      <SessionView sessionKey={sessionKey} tab={key === sessionKey ? tab : 'chat'} />
      <Announcements />
    </main>
  );
};
