import type { Signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { now } from '../base/now.ts';
import { asSentence } from '../parts/one-line.ts';
import { shortTime } from '../parts/time.tsx';
import { deliveryWords } from './delivery-words.ts';
import { useDeliveries } from './use-deliveries.ts';

interface DeliveryNoteProps {
  readonly sessionKey: string;
  /** The id of the event that was to be sent. */
  readonly event: string;
  /** The channel that it was for. */
  readonly channel: string;
  /** The event that is followed without being asked for: a chat may be long. */
  readonly newest: Signal<string | undefined>;
}

/** Whether an answer has reached the channel that it was for. */
export const DeliveryNote = ({ sessionKey, event, channel, newest }: DeliveryNoteProps) => {
  const [isAskedFor, setAskedFor] = useState(false);
  const place = useRef<HTMLParagraphElement>(null);
  const isFollowed = isAskedFor || newest.value === event;
  const { deliveries, areOver, problem } = useDeliveries(sessionKey, event, isFollowed);
  const ask = (): void => {
    setAskedFor(true);
    // The button that has the focus goes.
    place.current?.focus();
  };
  // What has ended stays when another answer is the newest; what had not may be otherwise by now.
  const isShown = isFollowed || (deliveries !== null && areOver);
  return (
    <p ref={place} class="delivery-note" tabIndex={-1} role={isAskedFor ? 'status' : undefined}>
      {!isShown && (
        <button type="button" class="button button-quiet" onClick={ask}>
          Delivered to {channel}?
        </button>
      )}
      {isShown && deliveries === null && (problem === null ? 'Asking…' : asSentence(problem))}
      {isShown && deliveries?.map((one) => `${asSentence(deliveryWords(one, (at) => shortTime(at, now.value)))}.`).join(' ')}
    </p>
  );
};
