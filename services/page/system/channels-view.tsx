import { useState } from 'preact/hooks';
import type { ChannelSender, DeliveryPage, Pairings } from '../../../shared/client/main.ts';
import { parseKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionChannel } from '../../../shared/domain/values/types.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Empty } from '../parts/empty.tsx';
import { decidedText } from '../parts/person.ts';
import { LineForTheFile, Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { rows } from '../sessions/session-list.ts';
import { Waiting } from './waiting.tsx';

const everyMs = 5_000;

/** A decision about a sender, to be confirmed. */
interface Decision {
  readonly path: 'approve' | 'deny' | 'revoke';
  readonly body: object;
  readonly who: string;
}
const decisionWords = {
  approve: ['Let this sender write?', 'Approve', 'Approved'],
  deny: ['Keep this sender out?', 'Deny', 'Denied'],
  revoke: ['Revoke the approval?', 'Revoke', 'Revoked'],
} as const;

const nameOf = ({ name, senderId, channel }: ChannelSender): string =>
  `${name === undefined ? senderId : `${name} (${senderId})`} on ${channel}`;

/** What one session sends to another comes by no channel. */
const isChannel = (name: string | undefined): name is string => name !== undefined && name !== sessionChannel;

/** The channels of the sessions that the page has listed. */
const InUse = () => {
  const named = (rows.value?.list ?? []).map((row) => row.lastRoute?.channel ?? parseKey(row.key).channel);
  const channels = [...new Set(named.filter(isChannel))].sort();
  return channels.length === 0 ? null : <p>In use: {channels.join(', ')}</p>;
};

/** Who may write on the channels besides those of the configuration, who asks to, and which accounts do not get through. */
const ChannelsView = () => {
  const read = useRead<Pairings>('/v1/pairing', { everyMs });
  const waiting = useRead<DeliveryPage>('/v1/deliveries', { query: { limit: 1 }, everyMs });
  const [decision, decide] = useState<Decision | null>(null);
  const act = useAct();
  const { requests = [], paired = [] } = read.value ?? {};
  const accounts = waiting.value?.waiting ?? [];
  const carryOut = async ({ path, body }: Decision): Promise<void> => {
    decide(null);
    if (await act.run(() => client.post(`/v1/pairing/${path}`, body), decisionWords[path][2])) read.again();
  };
  const button = (path: Decision['path'], sender: ChannelSender, body: object) => (
    <button type="button" class="button" disabled={act.isBusy} onClick={() => decide({ path, body, who: nameOf(sender) })}>
      {decisionWords[path][1]}…
    </button>
  );
  return (
    <Pane
      title="Channels"
      hint="Strangers who wait for approval, senders who were approved, and accounts whose messages do not get through."
      read={read}
    >
      <ActOutcome act={act} />
      <InUse />
      <Waiting accounts={accounts} resumed={waiting.again} />
      {requests.length + paired.length + accounts.length === 0 && (
        <Empty title="Nobody waits">
          <p>
            On a channel with pairing, a stranger who writes gets a code and waits here until you let them in. To have that on
            Telegram, say so in the configuration.
          </p>
          <LineForTheFile line="channels: { telegram: { dmPolicy: 'pairing' } }," />
        </Empty>
      )}
      <ul class="items">
        {requests.map((sender) => (
          <li key={sender.code} class="item item-warn">
            <header>
              <span class="badge badge-warn">Waiting</span>
              <h2>{nameOf(sender)}</h2>
              <Time at={sender.requestedAt} />
            </header>
            <p class="item-facts">
              <span>
                code <code>{sender.code}</code>
              </span>
              <span>
                until <Time at={sender.expiresAt} exact />
              </span>
            </p>
            {mayWrite() && (
              <div class="item-buttons">
                {button('approve', sender, { channel: sender.channel, code: sender.code })}
                {button('deny', sender, { channel: sender.channel, code: sender.code })}
              </div>
            )}
          </li>
        ))}
        {paired.map((sender) => (
          <li key={`${sender.channel} ${sender.senderId}`} class="item">
            <header>
              <span class="badge badge-ok">Approved</span>
              <h2>{nameOf(sender)}</h2>
              <Time at={sender.pairedAt} />
            </header>
            <p class="item-facts">
              <span title={sender.by}>{decidedText(sender.by)}</span>
            </p>
            {mayWrite() && (
              <div class="item-buttons">{button('revoke', sender, { channel: sender.channel, senderId: sender.senderId })}</div>
            )}
          </li>
        ))}
      </ul>
      {decision && (
        <Confirm
          title={decisionWords[decision.path][0]}
          words={decisionWords[decision.path][1]}
          yes={() => void carryOut(decision)}
          no={() => decide(null)}
        >
          <p>{decision.who}</p>
        </Confirm>
      )}
    </Pane>
  );
};
export default ChannelsView;
