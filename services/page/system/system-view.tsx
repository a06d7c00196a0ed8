import type { ComponentType } from 'preact';
import type { DoctorReport } from '../../../shared/client/main.ts';
import { linkTo, route } from '../base/route.ts';
import { lazy } from '../loading/lazy.tsx';
import { Empty, NoSuchView } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { useRead } from '../parts/read.tsx';

interface Place {
  readonly name: string;
  readonly words: string;
  readonly says: string;
  readonly View: ComponentType<object>;
}

export const systemPlaces: readonly Place[] = [
  { name: 'hosts', words: 'Hosts', says: 'processes, and what each does', View: lazy(() => import('./hosts-view.tsx')) },
  { name: 'doctor', words: 'Doctor', says: 'what is wrong, and the repair', View: lazy(() => import('./doctor-view.tsx')) },
  { name: 'metrics', words: 'Metrics', says: 'numbers, drawn as lines', View: lazy(() => import('./metrics-view.tsx')) },
  {
    name: 'deliveries',
    words: 'Deliveries',
    says: 'what may not have arrived',
    View: lazy(() => import('./deliveries-view.tsx')),
  },
  {
    ...{ name: 'dead-letters', words: 'Dead letters', says: 'what nobody could process' },
    View: lazy(() => import('./dead-letters-view.tsx')),
  },
  {
    name: 'channels',
    words: 'Channels',
    says: 'who asks in, and what is stuck',
    View: lazy(() => import('./channels-view.tsx')),
  },
  { name: 'memory', words: 'Memory', says: 'what the agent remembers', View: lazy(() => import('./memory-view.tsx')) },
  {
    name: 'skills',
    words: 'Skills',
    says: 'what the agent can use',
    View: lazy(() => import('./skills-view.tsx')),
  },
  { name: 'schedules', words: 'Schedules', says: 'what happens by the clock', View: lazy(() => import('./schedules-view.tsx')) },
  { name: 'config', words: 'Configuration', says: 'the values in force', View: lazy(() => import('./config-view.tsx')) },
  { name: 'log', words: 'Log', says: 'the newest lines of this process', View: lazy(() => import('./log-view.tsx')) },
  { name: 'audit', words: 'Audit', says: 'who did what', View: lazy(() => import('./audit-view.tsx')) },
];

/** What a wide screen shows beside the list until something is chosen: whether anything is wrong. */
const first = systemPlaces.find(({ name }) => name === 'doctor');
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
  const chosen = systemPlaces.find((each) => each.name === name);
  const counts = toLookAt(useRead<DoctorReport>('/v1/doctor', { everyMs }).value);
  const place = chosen ?? (name === undefined && wide.matches ? first : undefined);
  return (
    <div class={`system ${name === undefined ? '' : 'system-one'}`}>
      <nav class="places" aria-label="System">
        <h1>System</h1>
        <ul>
          {systemPlaces.map((each) => (
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
