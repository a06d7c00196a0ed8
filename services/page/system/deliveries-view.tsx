import { useState } from 'preact/hooks';
import {
  type Delivery,
  type DeliveryPage,
  type DeliveryWithText,
  type EventDeliveries,
  sessionPath,
} from '../../../shared/client/main.ts';
import { linkTo, route } from '../base/route.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { triedWords } from '../deliveries/delivery-words.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { Paging } from '../loading/paging.tsx';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { Delivered } from './delivered.tsx';
import { Waiting } from './waiting.tsx';

const everyMs = 5_000;
const stateWords = { partial: 'Partly sent', unknown: 'May have arrived', failed: 'Did not arrive' } as const;

/** How often it was tried, and the receipts: what the platform calls the parts that arrived. Nothing where its session is gone. */
const Custody = ({ one: { outboundId, sessionKey } }: { readonly one: Delivery }) => {
  const event = outboundId.split('.', 2).join('.');
  const { value } = useRead<EventDeliveries>(sessionPath(sessionKey, '/deliveries'), { query: { event } });
  const found = value?.deliveries.find((delivery) => delivery.outboundId === outboundId);
  if (found === undefined || found.attempt === 0) return null;
  const { attempt, parts, messageIds } = found;
  const tried = triedWords(attempt);
  return (
    <p class="item-facts">
      <span>{parts === undefined ? tried : `${tried} with its last part`}</span>
      {messageIds.length > 0 && <span>Arrived as {messageIds.join(', ')}</span>}
    </p>
  );
};

/** The text that was not sent, and what a person decides about it. It says before the click what a repeat would do. */
const Decision = ({ seq, decided }: { readonly seq: number; readonly decided: () => void }) => {
  const { value, problem } = useRead<DeliveryWithText>(`/v1/deliveries/${seq}`);
  const [asked, ask] = useState<'repeat' | 'leave' | null>(null);
  const act = useAct();
  if (value === null) return <p class="hint">{problem ?? 'Reading…'}</p>;
  const decide = async (what: 'repeat' | 'leave'): Promise<void> => {
    ask(null);
    const words = what === 'repeat' ? 'Sent again' : 'Left as it is';
    if (await act.run(() => client.post(`/v1/deliveries/${seq}/${what}`, {}), words)) decided();
  };
  return (
    <>
      <pre>{value.text}</pre>
      <p class="hint">
        {value.repeat.isPossible ? 'If it is sent again: ' : 'It cannot be sent again: '}
        {value.repeat.why}.
      </p>
      {mayWrite() && (
        <div class="item-buttons">
          <button type="button" class="button" disabled={act.isBusy || !value.repeat.isPossible} onClick={() => ask('repeat')}>
            Send again…
          </button>
          <button type="button" class="button" disabled={act.isBusy} onClick={() => ask('leave')}>
            Leave as it is…
          </button>
        </div>
      )}
      <ActOutcome act={act} />
      {asked !== null && (
        <Confirm
          title={asked === 'repeat' ? 'Send it again?' : 'Leave it as it is?'}
          words={asked === 'repeat' ? 'Send again' : 'Leave'}
          yes={() => void decide(asked)}
          no={() => ask(null)}
        >
          <p>
            {asked === 'repeat'
              ? `To ${value.target.channel} ${value.target.to}: ${value.repeat.why}.`
              : 'It leaves this list and is not sent again.'}
          </p>
        </Confirm>
      )}
    </>
  );
};

const One = ({ one, decided }: { readonly one: Delivery; readonly decided: () => void }) => {
  const [isOpen, open] = useState(false);
  return (
    <li class={`item item-${one.state === 'failed' ? 'fail' : 'warn'}`}>
      <header>
        <span class={`badge badge-${one.state === 'failed' ? 'fail' : 'warn'}`}>{stateWords[one.state]}</span>
        <h2>
          To {one.target.to} on {one.target.channel}
        </h2>
        <Time at={one.at} />
      </header>
      <p>{one.detail}</p>
      <p class="item-facts">
        <SessionLink sessionKey={one.sessionKey} at={one.outboundId.split('.')[0]} />
        {one.parts && (
          <span>
            {one.parts.sent} of {one.parts.of} parts
          </span>
        )}
      </p>
      <details onToggle={(event) => open(event.currentTarget.open)}>
        <summary>What was not sent</summary>
        {isOpen && <Custody one={one} />}
        {isOpen && <Decision seq={one.seq} decided={decided} />}
      </details>
    </li>
  );
};

const ListLinks = ({ isDelivered }: { readonly isDelivered: boolean }) => (
  <nav class="tabs view-tabs" aria-label="Deliveries">
    <a href={linkTo(['system', 'deliveries'])} aria-current={isDelivered ? undefined : 'page'}>
      Not delivered
    </a>
    <a href={linkTo(['system', 'deliveries'], { show: 'delivered' })} aria-current={isDelivered ? 'page' : undefined}>
      Delivered
    </a>
  </nav>
);

/** Outgoing messages that may not have arrived, and those that wait and go on by themselves; or those that have arrived. */
const DeliveriesView = () => {
  const isDelivered = route.value.query.show === 'delivered';
  return (
    <>
      <ListLinks isDelivered={isDelivered} />
      {isDelivered ? <Delivered /> : <Undelivered />}
    </>
  );
};

const Undelivered = () => {
  const [before, setBefore] = useState<number | undefined>(undefined);
  const read = useRead<DeliveryPage>('/v1/deliveries', { query: { before, limit: 50 }, everyMs });
  const { waiting = [], deliveries = [], next = null } = read.value ?? {};
  return (
    <Pane title="Deliveries" hint="Messages to people that wait for another try, or may not have arrived." read={read}>
      <Waiting accounts={waiting} resumed={read.again} />
      {deliveries.length === 0 && waiting.length === 0 ? (
        <Empty title="No message waits or has failed">
          <p>
            An answer to a channel is listed here while it waits for another try, and when its receiver refuses it or does not
            confirm it.
          </p>
          <LineToCopy says="On a terminal the same is shown by:" line="natter deliveries" />
        </Empty>
      ) : (
        <ul class="items">
          {deliveries.map((one) => (
            <One key={one.seq} one={one} decided={read.again} />
          ))}
        </ul>
      )}
      <Paging before={before} next={next} go={setBefore} />
    </Pane>
  );
};
export default DeliveriesView;
