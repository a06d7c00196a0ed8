import { client } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';

/** A token as `GET /v1/tokens` lists it. */
export interface ListedToken {
  readonly id: string;
  readonly role: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly sessionKey?: string;
  readonly label: string;
  readonly principal?: string;
  readonly createdBy: string;
  /** What a page was opened with; none: it is not the token of a page. */
  readonly parent?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

/** The links to a session that work now, each of which can be revoked. */
export const SharedLinks = ({ sessionKey }: { readonly sessionKey: string }) => {
  const { value, again } = useRead<{ readonly tokens: readonly ListedToken[] }>('/v1/tokens');
  const act = useAct();
  const links = (value?.tokens ?? []).filter(
    (token) => token.role === 'viewer' && token.status === 'active' && token.sessionKey === sessionKey,
  );
  const revoke = async (id: string): Promise<void> => {
    if (await act.run(() => client.delete(`/v1/tokens/${id}`), 'The link is revoked')) again();
  };
  return (
    <>
      {links.length > 0 && (
        <section class="shared-links" aria-labelledby="shared-links">
          <h3 id="shared-links">Links that work now</h3>
          <ul>
            {links.map(({ id, createdAt, expiresAt }) => (
              <li key={id}>
                <span>
                  Made <Time at={createdAt} exact />
                  {expiresAt !== undefined && (
                    <>
                      , works until <Time at={expiresAt} exact />
                    </>
                  )}
                </span>
                <button type="button" class="button button-danger" disabled={act.isBusy} onClick={() => void revoke(id)}>
                  Revoke
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <ActOutcome act={act} />
    </>
  );
};
