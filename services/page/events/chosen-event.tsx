import type { EventPage, NatterEvent } from '../../../shared/client/main.ts';
import { changeQuery } from '../base/route.ts';
import { Empty } from '../parts/empty.tsx';
import { useRead } from '../parts/read.tsx';
import { EventDetail } from './event-detail.tsx';

/** The cursor after which an event comes first: `17.1` before `17.2`, and `16` before `17.0`. */
const cursorBefore = (id: string): string => {
  const [seq = 0, index = 0] = id.split('.').map(Number);
  return index > 0 ? `${seq}.${index - 1}` : `${Math.max(0, seq - 1)}`;
};

interface Props {
  readonly id: string;
  /** The event, if it is in the list. */
  readonly listed: NatterEvent | undefined;
  /** Whether the filter wants it. */
  isWanted(event: NatterEvent): boolean;
}

const Unlisted = ({ id, isWanted }: Pick<Props, 'id' | 'isWanted'>) => {
  const { value, problem } = useRead<EventPage>('/v1/events', { query: { after: cursorBefore(id), limit: 1 } });
  const event = value?.events.find((each) => each.id === id);
  if (event === undefined && value === null) return <p class="loading">{problem ?? 'Reading the event…'}</p>;
  if (event === undefined) return <Empty title={`There is no event ${id}`} />;
  return (
    <>
      {!isWanted(event) && (
        <p class="event-hidden" role="status">
          The filter hides this event in the list.{' '}
          <button
            type="button"
            class="button button-quiet"
            onClick={() => changeQuery({ type: '', memory: '', key: '', until: '', from: '' })}
          >
            Lift the filter
          </button>
        </p>
      )}
      <EventDetail key={event.id} event={event} />
    </>
  );
};

/** One event in full, which may be one that the list does not have. */
export const ChosenEvent = ({ id, listed, isWanted }: Props) =>
  listed ? <EventDetail key={listed.id} event={listed} /> : <Unlisted key={id} id={id} isWanted={isWanted} />;
