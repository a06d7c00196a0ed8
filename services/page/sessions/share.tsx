import { useState } from 'preact/hooks';
import type { Session, SharedLink } from '../../../shared/client/main.ts';
import { isLoopback } from '../../../shared/kit/loopback.ts';
import { fragmentOfLink } from '../../../shared/kit/text/share-link.ts';
import { client } from '../base/signed-in.ts';
import { nameOf } from '../finding/session-name.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Time } from '../parts/time.tsx';
import { SharedLinks } from './shared-links.tsx';

const dayMs = 86_400_000;
const spans = [
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
] as const;

/** A link, once it is made. */
interface Made {
  readonly link: string;
  readonly expiresAt: number;
  readonly isCopied: boolean;
}

/** A browser may refuse it, and a page without TLS has no clipboard. */
const copied = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
};

const makeLink = async (key: string, days: number): Promise<Made> => {
  const expiresAt = Date.now() + days * dayMs;
  const wanted = { role: 'viewer', sessionKey: key, expiresAt, label: 'shared on the page' };
  const { token, publicUrl = location.origin } = await client.post<SharedLink>('/v1/tokens', wanted);
  const link = `${publicUrl}/${fragmentOfLink(token)}`;
  return { link, expiresAt, isCopied: await copied(link) };
};

/** Whether a link leads to nowhere but the machine that it is opened on. */
const isHere = (link: string): boolean => isLoopback(new URL(link).hostname.replace(/^\[|\]$/g, ''));

/** Makes a link with which anybody can read the session, for a while. */
const ShareDialog = ({ session, close }: { readonly session: Session; close(): void }) => {
  const [days, choose] = useState(7);
  const [made, know] = useState<Made | null>(null);
  const act = useAct();
  const make = (): void => {
    void act.run(async () => know(await makeLink(session.key, days)), 'The link is made');
  };
  return (
    <Confirm
      title={`Share ${nameOf(session)}`}
      words={made === null ? 'Make a link' : undefined}
      dismissal={made === null ? 'Cancel' : 'Close'}
      isOff={act.isBusy}
      yes={make}
      no={close}
    >
      {made === null ? (
        <>
          <p>
            Whoever has the link can read this session without an account: all that was said, what follows, and its past. They see
            nothing else and change nothing.
          </p>
          <fieldset class="themes">
            <legend>The link works for</legend>
            {spans.map(([count, words]) => (
              <label key={count}>
                <input type="radio" name="span" checked={days === count} onChange={() => choose(count)} />
                <span>{words}</span>
              </label>
            ))}
          </fieldset>
          <ActOutcome act={act} />
        </>
      ) : (
        <>
          <p>
            Whoever has this link can read this session until <Time at={made.expiresAt} exact />.
            {made.isCopied && ' It is on the clipboard.'}
          </p>
          <div class="share-link">
            <input readOnly aria-label="Link" value={made.link} onFocus={(event) => event.currentTarget.select()} />
            <CopyButton text={made.link} what="the link" />
          </div>
          {isHere(made.link) && (
            <p class="hint">
              It works on this machine only, because the gateway listens nowhere else. For others, set{' '}
              <code>gateway.publicUrl</code> and make another link.
            </p>
          )}
        </>
      )}
      <SharedLinks key={made?.link} sessionKey={session.key} />
    </Confirm>
  );
};

export default ShareDialog;
