import { useEffect, useState } from 'preact/hooks';
import { type EventDeliveries, type EventDelivery, sessionPath } from '../../../shared/client/main.ts';
import { useRead } from '../parts/read.tsx';
import { isOver } from './delivery-words.ts';

/** How often what is on its way is asked for. */
const everyMs = 5_000;

interface Known {
  /** `null`: not known (yet). */
  readonly deliveries: readonly EventDelivery[] | null;
  /** Whether nothing more is done about any of them. */
  readonly areOver: boolean;
  readonly problem: string | null;
}

/** What became of the messages of an event, asked again until they are over, while `isFollowed`; what was known before stays. */
export const useDeliveries = (key: string, event: string, isFollowed = true): Known => {
  const [isOnItsWay, setOnItsWay] = useState(false);
  const query = { event };
  const path = isFollowed ? sessionPath(key, '/deliveries') : null;
  const { value, problem } = useRead<EventDeliveries>(path, isFollowed && isOnItsWay ? { query, everyMs } : { query });
  const deliveries = value?.deliveries ?? null;
  const areOver = (deliveries ?? []).every(isOver);
  useEffect(() => setOnItsWay(!areOver), [areOver]);
  return { deliveries, areOver, problem };
};
