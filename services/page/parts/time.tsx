import { now } from '../base/now.ts';

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

/** Today's by the clock with seconds, another by date and clock. */
export const exactTime = (at: number, today: number): string => {
  const [then, current] = [new Date(at), new Date(today)];
  return isSameDay(then, current) ? clockExact.format(then) : `${shortTime(at, today)}, ${clock.format(then)}`;
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
  const text = (exact || (hasClock && !isToday) ? exactTime : shortTime)(at, now.value);
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString().replace('T', ' ').replace('Z', ' UTC')}>
      {text}
    </time>
  );
};
