import type { ComponentType } from 'preact';
import type { DoctorReport } from '../../../shared/client/main.ts';
import { linkTo, route } from '../base/route.ts';
import { type Audience, isFor } from '../base/signed-in.ts';
import { lazy } from '../loading/lazy.tsx';
import { Empty, NoSuchView } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { useRead } from '../parts/read.tsx';

interface Place {
  readonly name: string;
  readonly words: string;
  readonly says: string;
  readonly audience: Audience;
  readonly View: ComponentType<object>;
}

const allPlaces: readonly Place[] = [
  {
    name: 'hosts',
    words: 'Hosts',
    audience: 'reader',
    says: 'processes, and what each does',
    View: lazy(() => import('./hosts-view.tsx')),
  },
  {
    name: 'doctor',
    words: 'Doctor',
    audience: 'owner',
    says: 'what is wrong, and the repair',
    View: lazy(() => import('./doctor-view.tsx')),
  },
  {
    name: 'metrics',
    words: 'Metrics',
    audience: 'reader',
    says: 'numbers, drawn as lines',
    View: lazy(() => import('./metrics-view.tsx')),
  },
  {
    name: 'deliveries',
    words: 'Deliveries',
    audience: 'owner',
    says: 'what may not have arrived',
    View: lazy(() => import('./deliveries-view.tsx')),
  },
  {
    ...{ name: 'dead-letters', words: 'Dead letters', audience: 'owner', says: 'what nobody could process' },
    View: lazy(() => import('./dead-letters-view.tsx')),
  },
  {
    name: 'channels',
    words: 'Channels',
    audience: 'owner',
    says: 'who asks in, and what is stuck',
    View: lazy(() => import('./channels-view.tsx')),
  },
  {
    name: 'memory',
    words: 'Memory',
    audience: 'person',
    says: 'what the agent remembers',
    View: lazy(() => import('./memory-view.tsx')),
  },
  {
    name: 'skills',
    words: 'Skills',
    audience: 'reader',
    says: 'what the agent can use',
    View: lazy(() => import('./skills-view.tsx')),
  },
  {
    name: 'schedules',
    words: 'Schedules',
    audience: 'reader',
    says: 'what happens by the clock',
    View: lazy(() => import('./schedules-view.tsx')),
  },
  {
    name: 'config',
    words: 'Configuration',
    audience: 'owner',
    says: 'the values in force',
    View: lazy(() => import('./config-view.tsx')),
  },
  {
    name: 'log',
    words: 'Log',
    audience: 'owner',
    says: 'the newest lines of this process',
    View: lazy(() => import('../log/log-view.tsx')),
  },
  {
    ...{ name: 'access', words: 'Access', says: 'links and tokens that work', audience: 'administrator' },
    View: lazy(() => import('./access-view.tsx')),
  },
  { name: 'audit', words: 'Audit', audience: 'owner', says: 'who did what', View: lazy(() => import('../log/audit-view.tsx')) },
];

/** The views that are not only refused to who is signed in. */
export const systemPlaces = (): readonly Place[] => allPlaces.filter(({ audience }) => isFor(audience));

const wide = matchMedia('(width >= 960px)');

const everyMs = 30_000;
/** Behind which place a person is waited for, by the name of the finding that says so. */
const placeOf: Readonly<Record<string, string>> = { 'dead letters': 'dead-letters', deliveries: 'deliveries' };

/** How much there is to look at behind each place, as the doctor says. */
const toLookAt = (report: DoctorReport | null): ReadonlyMap<string, number> => {
  const findings = (report?.findings ?? []).filter(({ level }) => level !== 'ok');
  const counts = findings.flatMap(({ what, detail }): [string, number][] => {
    const [place, count] = [placeOf[what], Number.parseInt(detail, 10)];
    return place === undefined || Number.isNaN(count) ? [] : [[place, count]];
  });
  return new Map([['doctor', findings.length], ...counts]);
};

/** The views of the system itself, each loaded when it is opened. */
const SystemView = () => {
  const [, name] = route.value.path;
  const places = systemPlaces();
  const chosen = allPlaces.find((each) => each.name === name);
  const counts = toLookAt(useRead<DoctorReport>(isFor('owner') ? '/v1/doctor' : null, { everyMs }).value);
  // What a wide screen shows beside the list until something is chosen: whether anything is wrong.
  const first = places.find((each) => each.name === 'doctor') ?? places[0];
  const place = chosen ?? (name === undefined && wide.matches ? first : undefined);
  return (
    <div class={`system ${name === undefined ? '' : 'system-one'}`}>
      <nav class="places" aria-label="System">
        <h1>System</h1>
        <ul>
          {places.map((each) => (
            <li key={each.name}>
              <a href={linkTo(['system', each.name])} aria-current={each === place ? 'page' : undefined}>
                <span>
                  {each.words}
                  {(counts.get(each.name) ?? 0) > 0 && (
                    <b class="count">
                      {counts.get(each.name)}
                      <span class="unseen"> to look at</span>
                    </b>
                  )}
                </span>
                <small>{each.says}</small>
              </a>
            </li>
          ))}
        </ul>
        <a class="places-file" href={linkTo(['export'])}>
          Open an exported file
        </a>
      </nav>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div class="system-place" tabIndex={0}>
        {place ? (
          <>
            <a class="button button-quiet to-places" href={linkTo(['system'])}>
              <Icon name="back" /> System
            </a>
            <place.View key={place.name} />
          </>
        ) : name !== undefined ? (
          <NoSuchView link={linkTo(['system'])} words="System" />
        ) : (
          <Empty title="The system itself">
            <p>Choose what to look at.</p>
          </Empty>
        )}
      </div>
    </div>
  );
};
export default SystemView;
