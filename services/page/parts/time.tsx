import { spanText } from '../../../shared/kit/text/span-text.ts';
import { now } from '../base/now.ts';

/** A span in words, a short one in milliseconds. */
export const latencyText = (ms: number): string => (ms < 10_000 ? `${ms} ms` : spanText(ms));

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const clockExact = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dateAndYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

const isSameDay = (one: Date, other: Date): boolean => one.toDateString() === other.toDateString();

/** A time as short as it can be without doubt: today's by the clock, this year's by the date. */
export const shortTime = (at: number, today: number): string => {
  const [then, current] = [new Date(at), new Date(today)];
  if (isSameDay(then, current)) return clock.format(then);
  return (then.getFullYear() === current.getFullYear() ? date : dateAndYear).format(then);
};

interface TimeProps {
  readonly at: number;
  /** With seconds today, and with the clock on other days. */
  readonly exact?: boolean;
  /** With the clock on every day, without seconds. */
  readonly clock?: boolean;
}

/** A local time; UTC while the pointer rests on it. */
export const Time = ({ at, exact = false, clock: hasClock = false }: TimeProps) => {
  const moment = new Date(at);
  const isToday = isSameDay(moment, new Date(now.value));
  const short = shortTime(at, now.value);
  const precise = isToday ? clockExact.format(moment) : `${short}, ${clock.format(moment)}`;
  const text = exact || (hasClock && !isToday) ? precise : short;
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString().replace('T', ' ').replace('Z', ' UTC')}>
      {text}
    </time>
  );
};
