import type { ConfigInForce, DeliveryPage, Retention } from '../../../shared/client/main.ts';
import { approvals } from '../approvals/approval-list.ts';
import { now } from '../base/now.ts';
import { linkTo } from '../base/route.ts';
import { Empty } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { spanText, Time } from '../parts/time.tsx';
import { rows } from '../sessions/session-list.ts';

/** Something that happens by the clock. */
interface Due {
  readonly id: string;
  readonly at: number;
  readonly what: string;
  readonly key?: string;
}
const everyMs = 10_000;
const shownRules =
  /^session\.(reset|resetByType|resetByChannel|idleMinutes|timeZone)\b|^session\.maintenance\.(mode|everyMinutes|pruneAfterDays)$|^scrub\./;

const isSet = (due: Due | null): due is Due => due !== null;

/** What happens by the clock: what comes next, and the rules that it comes from. */
const SchedulesView = () => {
  const deliveries = useRead<DeliveryPage>('/v1/deliveries', { query: { limit: 1 }, everyMs });
  const retention = useRead<Retention>('/v1/retention', { query: { limit: 1 }, everyMs });
  const config = useRead<ConfigInForce>('/v1/config');
  const next: Due[] = [
    ...(approvals.value ?? []).map(({ approvalId, expiresAt, sessionKey, action }) => ({
      ...{ id: approvalId, at: expiresAt, what: `The question “${action.slice(0, 60)}” expires`, key: sessionKey },
    })),
    ...(rows.value ?? [])
      .map(({ key, resultsUntil }): Due | null =>
        resultsUntil === undefined
          ? null
          : { id: `results ${key}`, at: resultsUntil, what: 'The turn ends unless its program gives its results', key },
      )
      .filter(isSet),
    ...(deliveries.value?.waiting ?? []).map(({ channel, to = '', accountId = '', until }) => ({
      ...{ id: `${channel} ${accountId} ${to}`, at: until, what: `${channel} ${accountId} ${to} is tried again` },
    })),
  ].sort((one, other) => one.at - other.at);
  const rules = (config.value?.keys ?? []).filter(({ path }) => shownRules.test(path));
  const { value: due } = retention;
  return (
    <Pane
      title="Schedules"
      hint="What happens by the clock. When a session is reset next stands above its chat; messages that are sent later are kept by the broker and appear when they are due."
      read={{ value: true, problem: null, again: () => {} }}
    >
      <h2>Next</h2>
      {next.length === 0 ? (
        <Empty title="Nothing is due">
          <p>
            Questions that expire, programs that must answer, and messages that are tried again stand here. To send one later:
          </p>
          <pre>{'POST /v1/sessions/{key}/messages {"text": "…", "sendAt": "2026-12-24T09:00:00Z"}'}</pre>
        </Empty>
      ) : (
        <ul class="items">
          {next.map(({ id, at, what, key }) => (
            <li key={id} class="item">
              <header>
                <h2>{what}</h2>
                <Time at={at} exact />
              </header>
              <p class="item-facts">
                <span>in {spanText(Math.max(0, at - now.value))}</span>
                {key !== undefined && <a href={linkTo(['sessions', key, 'chat'])}>{key}</a>}
              </p>
            </li>
          ))}
        </ul>
      )}
      <h2>Rules</h2>
      {due && (
        <p class="hint">
          Retention {due.mode === 'enforce' ? 'removes sessions that are due' : 'only counts the sessions that are due'}:{' '}
          {due.count} now.
        </p>
      )}
      {rules.length === 0 ? (
        <p class="hint">{config.problem ?? 'Reading…'}</p>
      ) : (
        <dl class="keys">
          {rules.map(({ path, value }) => (
            <div key={path}>
              <dt>
                <code>{path}</code>
              </dt>
              <dd>
                <code>{JSON.stringify(value)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Pane>
  );
};
export default SchedulesView;
