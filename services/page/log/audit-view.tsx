import { useState } from 'preact/hooks';
import type { AuditPage } from '../../../shared/client/main.ts';
import { auditKinds } from '../../../shared/domain/access/audit.ts';
import { changeQuery, linkTo, route } from '../base/route.ts';
import { nameOfKey } from '../finding/known-names.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { Paging } from '../loading/paging.tsx';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { actorText } from '../parts/person.ts';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { auditFactWords, auditWords } from './audit-words.ts';

const everyMs = 5_000;

const isSession = (target: string): boolean => target.startsWith('agent:');

/** What it was done to: a session by its name, anything else by its id. */
const Target = ({ target }: { readonly target: string }) =>
  isSession(target) ? <SessionLink sessionKey={target} /> : <code>{target}</code>;

const levels = { ok: 'none', refused: 'warn', failed: 'fail' } as const;
const outcomeWords = { refused: 'Refused', failed: 'Failed' } as const;

type AuditRecord = AuditPage['records'][number];

/** Who did it, from where, to what, and what else is known. */
export const AuditFacts = ({
  actor,
  address,
  target,
  count,
  detail,
  commitSeq,
}: Pick<AuditRecord, 'actor' | 'address' | 'target' | 'count' | 'detail' | 'commitSeq'>) => {
  const facts = auditFactWords(detail ?? '');
  return (
    <>
      <span>
        <b title={actor}>{actorText(actor)}</b>
        {address !== undefined && ` from ${address}`}
      </span>
      {target !== undefined && <Target target={target} />}
      {count !== undefined && count > 1 && <span>{count} times</span>}
      {facts !== '' && <span title={detail}>{facts}</span>}
      {commitSeq !== undefined && target !== undefined && (
        <a href={linkTo(['sessions', target, 'time'], { at: `${commitSeq}` })}>Show the commit</a>
      )}
    </>
  );
};

const One = ({ one }: { readonly one: AuditRecord }) => (
  <li class={`item item-${levels[one.outcome]}`}>
    <header>
      <h2 title={one.kind}>{auditWords(one.kind)}</h2>
      {one.outcome !== 'ok' && <span class={`badge badge-${levels[one.outcome]}`}>{outcomeWords[one.outcome]}</span>}
      <Time at={one.at} exact />
    </header>
    <p class="item-facts">
      <AuditFacts {...one} />
    </p>
  </li>
);

const pageRecords = 200;

/** What a record can be found by: who and from where, what, and the session. */
const foundBy = ({ actor, address = '', target = '', detail = '', kind }: AuditRecord): string =>
  [actor, actorText(actor), address, target, isSession(target) ? nameOfKey(target) : '', detail, auditWords(kind)]
    .join(' ')
    .toLowerCase();

/** Who did, or tried, what concerns security; the newest first. */
const AuditView = () => {
  const { kind = '', find: q = '' } = route.value.query;
  const [before, setBefore] = useState<number | undefined>(undefined);
  const read = useRead<AuditPage>('/v1/audit', {
    query: { before, limit: pageRecords, ...(kind !== '' && { kind }) },
    everyMs,
  });
  const newest = [...(read.value?.records ?? [])].reverse();
  const hasOlder = before === undefined ? newest.length === pageRecords : read.value?.more === true;
  const next = hasOlder ? (newest.at(-1)?.seq ?? null) : null;
  const records = newest.filter((one) => foundBy(one).includes(q.toLowerCase()));
  return (
    <Pane
      title="Audit"
      hint={`Who did, or tried, what concerns security, and from where. ${pageRecords} at a time, newest first${q === '' ? '' : '; of those, the ones with the text are shown'}.`}
      read={read}
    >
      <div class="fields">
        <label class="field">
          <span>Kind</span>
          <select
            value={kind}
            onChange={(event) => {
              setBefore(undefined);
              changeQuery({ kind: event.currentTarget.value });
            }}
          >
            <option value="">All</option>
            {auditKinds.map((each) => (
              <option key={each} value={each}>
                {auditWords(each)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Who, what, or a session</span>
          <input type="search" defaultValue={q} onInput={(event) => changeQuery({ find: event.currentTarget.value.trim() })} />
        </label>
      </div>
      {records.length === 0 ? (
        <Empty title="Nothing of this kind">
          <p>
            Who signed in, made a token, let a stranger in, sent something again, or reset, forked, deleted or repaired a session
            is noted here.
          </p>
          <p>
            What happened in sessions is in <a href={linkTo(['events'])}>Events</a>.
          </p>
          <LineToCopy says="On a terminal the same is shown by:" line="natter audit" />
        </Empty>
      ) : (
        <ul class="items">
          {records.map((one) => (
            <One key={one.seq} one={one} />
          ))}
        </ul>
      )}
      <Paging before={before} next={next} go={setBefore} />
    </Pane>
  );
};
export default AuditView;
