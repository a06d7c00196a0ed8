import { useState } from 'preact/hooks';
import type { DeliveredMessage, DeliveredPage } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { Paging } from '../loading/paging.tsx';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';

const everyMs = 5_000;

const One = ({ one }: { readonly one: DeliveredMessage }) => {
  const { outboundId, sessionKey, target, attempt, at, messageIds, parts, detail } = one;
  const id = outboundId.split('.', 2).join('.');
  const tried = attempt === 1 ? 'First try' : `Try ${attempt}`;
  return (
    <li class="item item-ok">
      <header>
        <h2>
          To {target.to} on {target.channel}
        </h2>
        <Time at={at} exact />
      </header>
      <p class="item-facts">
        <span>{parts === undefined ? tried : `${parts.sent} parts, the last with its ${tried.toLowerCase()}`}</span>
        <span>{messageIds.length === 0 ? 'The platform gave no receipt' : `Arrived as ${messageIds.join(', ')}`}</span>
        {detail !== undefined && <span>{detail}</span>}
      </p>
      <p class="item-facts">
        <SessionLink sessionKey={sessionKey} at={id.split('.')[0]} />
        <a href={linkTo(['events'], { key: sessionKey, id })}>The event that sent it</a>
      </p>
    </li>
  );
};

/** Outgoing messages that have arrived, as the delivery log says. */
export const Delivered = () => {
  const [before, setBefore] = useState<number | undefined>(undefined);
  const read = useRead<DeliveredPage>('/v1/deliveries/delivered', { query: { before, limit: 50 }, everyMs });
  const { delivered = [], next = null } = read.value ?? {};
  return (
    <Pane title="Delivered" hint="Messages that a platform or a program has taken, newest first." read={read}>
      {delivered.length === 0 ? (
        next === null ? (
          <Empty title={before === undefined ? 'No message has arrived' : 'There are no older ones'}>
            <p>An answer to a channel is listed here once its receiver has taken it.</p>
            <LineToCopy says="On a terminal the same is shown by:" line="natter deliveries delivered" />
          </Empty>
        ) : (
          <p class="hint">None in this part of the delivery log. Choose Older to look further back.</p>
        )
      ) : (
        <ul class="items">
          {delivered.map((one) => (
            <One key={one.seq} one={one} />
          ))}
        </ul>
      )}
      <Paging before={before} next={next} go={setBefore} />
    </Pane>
  );
};
