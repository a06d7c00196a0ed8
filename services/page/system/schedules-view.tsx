import { useState } from 'preact/hooks';
import type { ConfigInForce, DeliveryPage, Retention, ScheduledMessages } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { approvals } from '../approvals/approval-list.ts';
import { now } from '../base/now.ts';
import { linkTo } from '../base/route.ts';
import { client, isFor, mayWrite } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Empty } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { rows } from '../sessions/session-list.ts';
import { forgetScheduled } from '../writing/send-later.tsx';
import { type Due, dueNext } from './due.ts';
import { nextAtHour, resetRules } from './reset-rules.ts';

const everyMs = 10_000;
/** Every read looks at all timers. */
const scheduledEveryMs = 30_000;

interface OneProps {
  readonly due: Due;
  cancel(): void;
}

const One = ({ due: { at, what, key, runId }, cancel }: OneProps) => (
  <li class="item">
    <header>
      <h2>{what}</h2>
      <Time at={at} exact />
    </header>
    <p class="item-facts">
      <span>in {spanText(Math.max(0, at - now.value))}</span>
      {key !== undefined && <SessionLink sessionKey={key} />}
    </p>
    {runId !== undefined && mayWrite() && (
      <div class="item-buttons">
        <button type="button" class="button button-danger" onClick={cancel}>
          Cancel…
        </button>
      </div>
    )}
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
            <span>{retention.count === 0 ? 'There is none now.' : `${counted(retention.count, 'session')} now`}</span>
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
  const isOwner = isFor('owner');
  const deliveries = useRead<DeliveryPage>(isOwner ? '/v1/deliveries' : null, { query: { limit: 1 }, everyMs });
  const retention = useRead<Retention>(isOwner ? '/v1/retention' : null, { query: { limit: 1 }, everyMs });
  const config = useRead<ConfigInForce>(isOwner ? '/v1/config' : null);
  const scheduled = useRead<ScheduledMessages>('/v1/scheduled-messages', { everyMs: scheduledEveryMs });
  const [chosen, choose] = useState<Due | null>(null);
  const act = useAct();
  const waiting = deliveries.value?.waiting ?? [];
  const { messages = [], complete = true } = scheduled.value ?? {};
  const next = dueNext({ approvals: approvals.value ?? [], rows: rows.value?.list ?? [], waiting, messages });
  const cancel = async ({ runId = '', key }: Due): Promise<void> => {
    choose(null);
    const isDone = await act.run(() => client.delete(`/v1/scheduled-messages/${encodeURIComponent(runId)}`), 'Cancelled');
    if (isDone && key !== undefined) forgetScheduled(key);
    scheduled.again();
  };
  return (
    <Pane
      title="Schedules"
      hint="What happens by the clock. A session’s next reset is above its chat, on a small screen in its Details."
      read={{ ...scheduled, value: true }}
    >
      <h2>Next</h2>
      <ActOutcome act={act} />
      {next.length === 0 ? (
        <Empty title="Nothing waits for its time">
          <p>
            Questions to you that expire, programs that must answer in time, scheduled messages, and messages that are tried again
            are listed here. Resets are not: each has its time above its chat.
          </p>
          {mayWrite() && (
            <p>
              To have a message sent later, write it in a <a href={linkTo(['sessions'])}>chat</a>, then choose the clock beside
              Send.
            </p>
          )}
        </Empty>
      ) : (
        <ul class="items">
          {next.map((due) => (
            <One key={due.id} due={due} cancel={() => choose(due)} />
          ))}
        </ul>
      )}
      {!complete && (
        <p class="hint">There may be more scheduled messages: natter scheduled --key SESSION lists those of one session.</p>
      )}
      {isOwner && (
        <>
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
        </>
      )}
      {chosen && (
        <Confirm
          title="Cancel this message?"
          words="Cancel the message"
          dismissal="Keep it"
          isDangerous
          yes={() => void cancel(chosen)}
          no={() => choose(null)}
        >
          <p>{chosen.what}</p>
        </Confirm>
      )}
    </Pane>
  );
};
export default SchedulesView;
