import { useState } from 'preact/hooks';
import { linkTo } from '../base/route.ts';
import { client, who } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { actorText } from '../parts/person.ts';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import type { ListedToken } from '../sessions/shared-links.tsx';

const everyMs = 10_000;

const isLink = ({ role }: ListedToken): boolean => role === 'viewer';
const isOfPage = ({ parent }: ListedToken): boolean => parent !== undefined;
const isOfThisPage = ({ id }: ListedToken): boolean => who.value?.actor.endsWith(`:${id}`) === true;

const nameOf = (token: ListedToken): string => {
  if (isLink(token)) return 'Shared link';
  if (isOfPage(token)) return isOfThisPage(token) ? 'This page' : 'A page that is signed in';
  return token.label === '' ? 'Token' : token.label;
};

const One = ({ token, revoke }: { readonly token: ListedToken; revoke(): void }) => (
  <li class="item">
    <header>
      <span class="badge">{isLink(token) ? 'Link' : token.role}</span>
      <h2>{nameOf(token)}</h2>
      <Time at={token.createdAt} exact />
    </header>
    <p class="item-facts">
      {token.sessionKey !== undefined && (
        <span>
          reads <SessionLink sessionKey={token.sessionKey} />
        </span>
      )}
      {token.principal !== undefined && <span>speaks for {token.principal}</span>}
      <span title={token.createdBy}>made {actorText(token.createdBy)}</span>
      {token.expiresAt === undefined ? (
        <span>without an end</span>
      ) : (
        <span>
          until <Time at={token.expiresAt} exact />
        </span>
      )}
      <code>{token.id}</code>
    </p>
    <div class="item-buttons">
      <button type="button" class="button button-quiet button-danger" onClick={revoke}>
        Revoke…
      </button>
    </div>
  </li>
);

/** What lets others in now: links to one session, tokens, and pages that are signed in. Each can be revoked. */
const AccessView = () => {
  const read = useRead<{ readonly tokens: readonly ListedToken[] }>('/v1/tokens', { everyMs });
  const [chosen, choose] = useState<ListedToken | null>(null);
  const act = useAct();
  const active = (read.value?.tokens ?? []).filter(({ status }) => status === 'active');
  const revoke = async (token: ListedToken): Promise<void> => {
    choose(null);
    if (await act.run(() => client.delete(`/v1/tokens/${token.id}`), `${nameOf(token)} is revoked`)) read.again();
  };
  const groups = [
    ['Shared links', active.filter(isLink)],
    ['Tokens', active.filter((token) => !isLink(token) && !isOfPage(token))],
    ['Signed-in pages', active.filter(isOfPage)],
  ] as const;
  return (
    <Pane
      title="Access"
      hint="Links to a session, tokens, and pages that are signed in, each as long as it works. Tokens of the configuration are changed there."
      read={read}
    >
      <ActOutcome act={act} />
      {groups.map(([words, tokens]) => (
        <section key={words} class="view-part" aria-label={words}>
          <h2>{words}</h2>
          {tokens.length === 0 ? (
            <p class="hint">There are none{words === 'Tokens' && ' besides that of the installation'}.</p>
          ) : (
            <ul class="items">
              {tokens.map((token) => (
                <One key={token.id} token={token} revoke={() => choose(token)} />
              ))}
            </ul>
          )}
        </section>
      ))}
      <p class="hint">
        On a terminal <code>natter token create</code> makes a token. Who made and revoked one is in the{' '}
        <a href={linkTo(['system', 'audit'])}>audit trail</a>.
      </p>
      {chosen && (
        <Confirm
          title={`Revoke ${isLink(chosen) ? 'this link' : 'this token'}?`}
          words="Revoke"
          isDangerous
          yes={() => void revoke(chosen)}
          no={() => choose(null)}
        >
          <p>Whoever uses it is signed out at once, and cannot come back with it.</p>
        </Confirm>
      )}
    </Pane>
  );
};
export default AccessView;
