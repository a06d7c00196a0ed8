import type { ConfigInForce, DeliveryPage, Retention } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { approvals } from '../approvals/approval-list.ts';
import { now } from '../base/now.ts';
import { linkTo } from '../base/route.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { Empty } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { spanText, Time } from '../parts/time.tsx';
import { rows } from '../sessions/session-list.ts';
import { type Due, dueNext } from './due.ts';
import { nextAtHour, resetRules } from './reset-rules.ts';

const everyMs = 10_000;

const One = ({ due: { at, what, key } }: { readonly due: Due }) => (
  <li class="item">
    <header>
      <h2>{what}</h2>
      <Time at={at} exact />
    </header>
    <p class="item-facts">
      <span>in {spanText(Math.max(0, at - now.value))}</span>
      {key !== undefined && <SessionLink sessionKey={key} />}
    </p>
  </li>
);

const Rules = ({ keys, retention }: { readonly keys: ConfigInForce['keys']; readonly retention: Retention | null }) => {
  const valueAt = (path: string): unknown => keys.find((key) => key.path === path)?.value;
  const days = Number(valueAt('session.maintenance.pruneAfterDays'));
  const minutes = Number(valueAt('session.maintenance.everyMinutes'));
  const isScrubbed = valueAt('scrub.enabled') === true;
  return (
    <ul class="items">
      {resetRules(keys).map(({ words, daily }) => (
        <li key={words} class="item">
          <p>{words}</p>
          {daily && (
            <p class="item-facts">
              <span>
                Next: <Time at={nextAtHour(now.value, daily.hour, daily.zone)} exact /> on your clock
              </span>
            </p>
          )}
        </li>
      ))}
      {retention && (
        <li class="item">
          <p>
            Every {counted(minutes, 'minute')}, sessions that nobody has used for {counted(days, 'day')}, or that exceed the
            limit, {retention.mode === 'enforce' ? 'are removed' : 'are only counted, not removed'}.
          </p>
          <p class="item-facts">
            <span>{counted(retention.count, 'session')} now</span>
          </p>
        </li>
      )}
      {isScrubbed && (
        <li class="item">
          <p>
            {counted(Number(valueAt('scrub.everyHours')), 'hour')} after one check of the whole log for damage has ended, the next
            begins.
          </p>
        </li>
      )}
    </ul>
  );
};

/** What happens by the clock: what comes next, and the rules that it comes from. */
const SchedulesView = () => {
  const deliveries = useRead<DeliveryPage>('/v1/deliveries', { query: { limit: 1 }, everyMs });
  const retention = useRead<Retention>('/v1/retention', { query: { limit: 1 }, everyMs });
  const config = useRead<ConfigInForce>('/v1/config');
  const waiting = deliveries.value?.waiting ?? [];
  const next = dueNext({ approvals: approvals.value ?? [], rows: rows.value?.list ?? [], waiting });
  return (
    <Pane
      title="Schedules"
      hint="What happens by the clock. A session’s next reset is shown above its chat; messages that are sent later are kept by the broker and appear when they are due."
      read={{ value: true, problem: null, again: () => {} }}
    >
      <h2>Next</h2>
      {next.length === 0 ? (
        <Empty title="Nothing is due">
          <p>
            Questions to you that expire, programs that must answer in time, and messages that are tried again are listed here.
            There is nothing to do.
          </p>
        </Empty>
      ) : (
        <ul class="items">
          {next.map((due) => (
            <One key={due.id} due={due} />
          ))}
        </ul>
      )}
      <h2>Rules</h2>
      {config.value === null ? (
        <p class="hint">{config.problem ?? 'Reading…'}</p>
      ) : (
        <>
          <Rules keys={config.value.keys} retention={retention.value} />
          <p class="hint">
            The values behind these rules are those of session and scrub in the{' '}
            <a href={linkTo(['system', 'config'], { find: 'session.', show: 'all' })}>configuration</a>.
          </p>
        </>
      )}
    </Pane>
  );
};
export default SchedulesView;
