import type { WaitingDelivery } from '../../../shared/client/main.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { triedWords } from '../deliveries/delivery-words.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Time } from '../parts/time.tsx';

interface WaitingProps {
  readonly accounts: readonly WaitingDelivery[];
  resumed(): void;
}

const placeWords = ({ channel, accountId, to }: WaitingDelivery): string => {
  const account = accountId === undefined ? '' : `, from the account ${accountId}`;
  return `${to === undefined ? 'Messages' : `To ${to}`} on ${channel}${account}`;
};

/** What waits to be sent, and goes on by itself; a parked account can be tried at once. */
export const Waiting = ({ accounts, resumed }: WaitingProps) => {
  const act = useAct();
  const resume = async ({ channel, accountId }: WaitingDelivery): Promise<void> => {
    const body = { channel, ...(accountId !== undefined && { accountId }) };
    if (await act.run(() => client.post('/v1/deliveries/resume', body), `${channel} is tried again`)) resumed();
  };
  return (
    <>
      <ul class="items">
        {accounts.map((account) => (
          <li
            key={`${account.channel} ${account.accountId} ${account.to}`}
            class={`item item-${account.state === 'parked' ? 'warn' : 'wait'}`}
          >
            <header>
              <span class={`badge badge-${account.state === 'parked' ? 'warn' : 'wait'}`}>
                {account.state === 'parked' ? 'Parked' : 'Waits'}
              </span>
              <h2>{placeWords(account)}</h2>
            </header>
            {account.state === 'parked' && (
              <p class="hint">The platform lets nothing through for this account; its messages wait.</p>
            )}
            <p>
              {account.detail}. {account.attempts === undefined ? 'The' : `${triedWords(account.attempts)}; the`} next try is at{' '}
              <Time at={account.until} exact />.
            </p>
            {account.sessionKey !== undefined && (
              <p class="item-facts">
                <SessionLink sessionKey={account.sessionKey} />
              </p>
            )}
            {account.state === 'parked' && mayWrite() && (
              <div class="item-buttons">
                <button type="button" class="button" disabled={act.isBusy} onClick={() => void resume(account)}>
                  Try now
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
      <ActOutcome act={act} />
    </>
  );
};
